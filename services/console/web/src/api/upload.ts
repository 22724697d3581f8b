import { ApiError, addressOf, noAnswer, type Query, refusalOf } from './client'
import { noteUnauthorized } from './session-end'

/** How far a file has got, and how it is stopped. */
export interface Transfer {
  onProgress: (sentBytes: number) => void
  signal: AbortSignal
}

interface Upload {
  method: 'PUT' | 'POST'
  path: string
  query?: Query
  /** A form, or the bytes of the file itself. */
  body: Blob | FormData
}

const sessionEnded = 'Your session has ended. Sign in again, then try again.'

/**
 * Sends a file. `fetch` does not say how much of a body it has sent, so this is an XMLHttpRequest.
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
    // Whatever type a browser takes a file for, these are bytes.
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
