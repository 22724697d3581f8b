import { Readable } from 'node:stream'
import { type Call, createForwarder, forwardedHeader } from '@switchyard/service-kit/http'
import type { Cells } from './cells.js'

type ForwardRead = (
  input: object,
  given: Readonly<Record<string, unknown>>,
  call: Pick<Call, 'requestId' | 'raw'>,
) => Promise<boolean>

/**
 * Forwards HTTP requests with the parameter `tenant` to the cell of the tenant. `POST /saga_events` has no such parameter:
 * `report-by-cell.ts` splits its events by tenant.
 */
export function createForwardRead(cells: Cells): { forwardRead: ForwardRead; close: () => void } {
  const { forward, close } = createForwarder(cells.own)
  return {
    async forwardRead(input, given, call) {
      const { tenant } = input as { tenant?: unknown }
      if (typeof tenant !== 'string') return false
      const { request } = call.raw
      const cell = cells.ofTenant(tenant, request.headers[forwardedHeader] !== undefined)
      if (!cell) return false
      const upstream = { name: `the cell ${cell.name}`, address: cell.http }
      await forward(call, upstream, bodyOf(request, given))
      return true
    },
    close,
  }
}

/** The body is parsed already, so the parsed parameters, those of the path and the query among them, are sent as a JSON body. */
function bodyOf(request: Call['raw']['request'], given: object): Readable | undefined {
  if (request.method === 'GET' || request.method === 'HEAD') return undefined
  const text = Buffer.from(JSON.stringify(given))
  delete request.headers['transfer-encoding']
  delete request.headers['content-encoding']
  request.headers['content-type'] = 'application/json'
  request.headers['content-length'] = String(text.length)
  return Readable.from([text])
}
