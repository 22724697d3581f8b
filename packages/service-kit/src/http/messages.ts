import { IncomingMessage, ServerResponse } from 'node:http'
import type { Express } from 'express'

/**
 * Classes for `createServer` whose requests and responses have the prototypes of an express app from the start.
 *
 * Express otherwise changes the prototype of each request and response after it was made, and V8 then looks up each of
 * their properties the slow way, which almost doubles the time of a small request. See
 * docs/adr/0008-where-we-reach-into-libraries.md.
 */
export function messagesOf(app: Express): {
  IncomingMessage: typeof IncomingMessage
  ServerResponse: typeof ServerResponse
} {
  class AppRequest extends IncomingMessage {}
  class AppResponse<Of extends IncomingMessage> extends ServerResponse<Of> {}
  app.request = Object.setPrototypeOf(AppRequest.prototype, app.request)
  app.response = Object.setPrototypeOf(AppResponse.prototype, app.response)
  return { IncomingMessage: AppRequest, ServerResponse: AppResponse }
}
