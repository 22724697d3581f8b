import { sign, signatureHeader } from '@switchyard/webhooks/signature'
import { connectionError, type Destination, ExportError } from './destination.js'

interface HttpOptions {
  url: string
  /** Token that is sent as `Authorization: Bearer`. */
  token: string | undefined
  /** Secret that signs the body. */
  secret: string | undefined
}

const timeoutMs = 10_000

/**
 * Sends one JSON text per line. `X-Switchyard-Batch` has the ids of the first and the last entry, so a batch
 * that is sent again has the same value.
 */
export const httpDestination = ({ url, token, secret }: HttpOptions): Destination => ({
  name: 'http',
  async send(entries, signal) {
    const body = entries.map((entry) => `${JSON.stringify(entry)}\n`).join('')
    const timeout = AbortSignal.timeout(timeoutMs)
    try {
      const response = await fetch(url, {
        method: 'POST',
        redirect: 'manual',
        signal: AbortSignal.any([signal, timeout]),
        headers: {
          'Content-Type': 'application/x-ndjson',
          'User-Agent': 'Switchyard-Audit',
          'X-Switchyard-Batch': `${entries[0]?.id}-${entries.at(-1)?.id}`,
          ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
          ...(secret === undefined ? {} : { [signatureHeader]: sign(secret, body, new Date()) }),
        },
        body,
      })
      // Only the status counts, and the body may be long.
      await response.body?.cancel()
      if (!response.ok) throw new ExportError(`the server answered ${response.status}`)
    } catch (error) {
      if (timeout.aborted) throw new ExportError(`no answer within ${timeoutMs / 1000} seconds`)
      throw connectionError(error)
    }
  },
})
