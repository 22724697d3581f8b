import { DomainError, type ErrorKind, insufficientStorage } from '@switchyard/domain'
import type { Response } from 'express'
import type { Logger } from 'pino'
import { sendSmallJson } from './written-json.js'

export interface HttpError {
  status: number
  body: Record<string, unknown>
  headers?: Record<string, string>
}

const statusOf: Record<ErrorKind, number> = {
  'invalid-parameters': 400,
  invalid: 400,
  unauthenticated: 401,
  'insufficient-scope': 403,
  forbidden: 403,
  'not-found': 404,
  'not-supported': 405,
  conflict: 409,
  unprocessable: 422,
  'precondition-failed': 412,
  'too-large': 413,
  'unsupported-media-type': 415,
  'timed-out': 408,
  'rate-limited': 429,
  unavailable: 503,
  'insufficient-storage': 507,
}

/** The form of answers that another protocol prescribes. */
export interface AnswerForm {
  /** Media type of JSON answers, errors included. */
  mediaType: string
  /** Returns an error in the form of the protocol. */
  presentError(error: HttpError): HttpError
}

const diskFull = 'a disk of the server is full'

/**
 * Converts a failure to an HTTP answer; this is the only such table. Problems with reading parameters use the
 * key `error`, decisions the key `message`, as GitLab's clients expect.
 */
export function toHttpError(error: unknown): HttpError {
  if (error instanceof DomainError && !(error.kind === 'unavailable' && isOutOfSpace(error))) {
    const answer = { status: statusOf[error.kind], body: { ...bodyOf(error), ...error.extra } }
    const headers = headersOf(error)
    return headers ? { ...answer, headers } : answer
  }
  if (isOutOfSpace(error)) return toHttpError(insufficientStorage(diskFull))
  if (error instanceof URIError) return { status: 400, body: { error: 'the path is not valid' } }
  return { status: 500, body: { message: '500 Internal Server Error' } }
}

const outOfSpaceCodes = ['ENOSPC', 'EDQUOT']
/** Error texts of git and PostgreSQL for a full disk. */
const outOfSpaceTexts = /No space left on device|Disk quota exceeded/

/** Returns whether a full disk caused a failure: of this process, of git or of PostgreSQL. */
function isOutOfSpace(error: unknown): boolean {
  for (let at = error, depth = 0; at instanceof Error && depth < 10; at = at.cause, depth += 1) {
    const { code, stderr } = at as { code?: unknown; stderr?: unknown }
    if (
      outOfSpaceCodes.includes(String(code)) ||
      outOfSpaceTexts.test(at.message) ||
      outOfSpaceTexts.test(String(stderr ?? ''))
    )
      return true
  }
  return false
}

function headersOf({ kind, retryAfterMs }: DomainError): Record<string, string> | undefined {
  // The rest of this request may still arrive, and would then be read as the next request of the connection.
  if (kind === 'timed-out') return { Connection: 'close' }
  return retryAfterMs === undefined ? undefined : { 'Retry-After': String(Math.ceil(retryAfterMs / 1000)) }
}

function bodyOf({ kind, detail }: DomainError): Record<string, unknown> {
  switch (kind) {
    case 'invalid-parameters':
    case 'unsupported-media-type':
      return { error: detail }
    case 'insufficient-scope':
      return {
        error: 'insufficient_scope',
        error_description: 'The request requires higher privileges than provided by the access token.',
        scope: detail,
      }
    case 'unauthenticated':
      return { message: '401 Unauthorized' }
    case 'forbidden':
      return { message: detail ? `403 Forbidden - ${detail}` : '403 Forbidden' }
    case 'not-found':
      return { message: detail ? `404 ${detail} Not Found` : '404 Not found' }
    case 'precondition-failed':
      return { message: '412 Precondition Failed' }
    case 'timed-out':
      return { message: detail ? `408 Request Timeout - ${detail}` : '408 Request Timeout' }
    case 'rate-limited':
      return { message: { error: detail } }
    case 'unavailable':
      return { message: detail ? `503 Service Unavailable - ${detail}` : '503 Service Unavailable' }
    case 'insufficient-storage':
      return { message: `507 Insufficient Storage - ${detail}` }
    case 'not-supported':
      return { message: `405 Method Not Allowed - ${detail}` }
    case 'invalid':
    case 'conflict':
    case 'unprocessable':
    case 'too-large':
      return { message: detail }
    default:
      return kind satisfies never
  }
}

/** Returns the text in the body of an error, for clients that read no other form. */
export function errorText({ message, error_description: description, error }: HttpError['body']): string {
  const nested = typeof message === 'object' && message !== null && 'error' in message && message.error
  const text = [message, description, error, nested].find((value) => typeof value === 'string')
  return text === undefined ? 'The request was refused' : String(text)
}

const headersOfBody = [
  'Content-Length',
  'Content-Range',
  'Content-Disposition',
  'Content-Encoding',
  'Accept-Ranges',
  'ETag',
  'Last-Modified',
]

/** Answers with an error. Unexpected errors are logged here, exactly once, with their cause. */
export function sendError(
  response: Response,
  error: unknown,
  {
    requestId,
    logger,
    answerForm,
  }: { requestId: string; logger: Logger; answerForm?: AnswerForm | undefined },
): void {
  const standard = toHttpError(error)
  const { status, body, headers } = answerForm ? answerForm.presentError(standard) : standard
  // Work that stopped because its client left is not a failure of the service.
  if (response.destroyed) {
    logger.debug({ err: error }, 'client went away')
    return
  }
  if (status >= 500) logger.error({ err: error }, 'request failed')
  if (response.headersSent) {
    response.destroy()
    return
  }
  // The endpoint may have described a body that it could not begin to send.
  for (const name of headersOfBody) response.removeHeader(name)
  response.set({ 'Cache-Control': 'no-store', ...headers })
  sendSmallJson(response, status, { ...body, request_id: requestId }, answerForm?.mediaType)
}
