import { IncomingMessage, ServerResponse } from 'node:http'
import type { Express } from 'express'

/**
 * The classes from which a server makes requests and responses that are the app's already.
 *
 * Express gives every request and response another prototype once it is made, after which V8 knows the shape of neither
 * and looks each of their properties up the slow way: two thirds of all time of a small answer. What has the prototype
 * from the start is left as it is.
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
