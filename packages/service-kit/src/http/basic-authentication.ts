import { DomainError } from '@switchyard/domain'
import type { RequestHandler } from 'express'
import { tokenOf } from './authentication.js'

/** The token of a request, which may also be the password of basic authentication. The user name says nothing. */
export function tokenOrPasswordOf(headers: { [name: string]: string | string[] | undefined }): string | null {
  const token = tokenOf(headers)
  const encoded = /^basic +([\w+/=-]+)\s*$/i.exec(String(headers.authorization ?? ''))?.[1]
  if (token !== null || encoded === undefined) return token
  const decoded = Buffer.from(encoded, 'base64').toString('utf8')
  const colon = decoded.indexOf(':')
  return colon < 0 || colon === decoded.length - 1 ? null : decoded.slice(colon + 1)
}

/** Has each 401 of a handler ask for a name and a password, without which git asks its user for none. */
export const askingForPassword =
  (handler: RequestHandler): RequestHandler =>
  async (request, response, next) => {
    try {
      await handler(request, response, next)
    } catch (error) {
      const isUnauthenticated = error instanceof DomainError && error.kind === 'unauthenticated'
      if (isUnauthenticated && !response.headersSent)
        response.set('WWW-Authenticate', 'Basic realm="Switchyard", charset="UTF-8"')
      throw error
    }
  }
