import { ApiError, addressOf, noAnswer, type Query, refusalOf } from './client'
import { noteUnauthorized } from './session-end'

/** The progress of a file, and its cancellation. */
export interface Transfer {
  onProgress: (sentBytes: number) => void
  signal: AbortSignal
}

interface Upload {
  method: 'PUT' | 'POST'
  path: string
  query?: Query
  /** A form, or the bytes of the file. */
  body: Blob | FormData
}

const sessionEnded = 'Your session has ended. Sign in again, then try again.'

/**
 * Sends a file with XMLHttpRequest, because `fetch` does not report the progress of a body.
 *
 * @throws ApiError for a refusal and without an answer; the reason of the signal when it is aborted
 */
export function upload<Answer>(
  { method, path, query, body }: Upload,
  { onProgress, signal }: Transfer,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    const abort = () => request.abort()
    const fail = (error: unknown) => reject(signal.aborted ? signal.reason : error)
    request.open(method, addressOf(path, query))
    request.setRequestHeader('Accept', 'application/json')
    // The bytes are sent as such, whatever type the browser detects.
    if (body instanceof Blob) request.setRequestHeader('Content-Type', 'application/octet-stream')
    request.upload.onprogress = ({ loaded }) => onProgress(loaded)
    request.onload = () => {
      const { status, responseText } = request
      if (status === 401) noteUnauthorized()
      if (status >= 200 && status < 300) resolve(JSON.parse(responseText) as Answer)
      else fail(status === 401 ? new ApiError(401, sessionEnded) : refusalOf(status, responseText))
    }
    request.onerror = () => fail(noAnswer())
    request.onabort = () => fail(noAnswer())
    request.onloadend = () => signal.removeEventListener('abort', abort)
    if (signal.aborted) return fail(signal.reason)
    signal.addEventListener('abort', abort)
    request.send(body)
  })
}
