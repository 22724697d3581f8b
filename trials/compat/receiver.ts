import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { waitFor } from '@switchyard/testing'
import type { LabProject, Work } from './work.js'

/** A delivery of a project's webhook. */
export interface Delivery {
  headers: IncomingHttpHeaders
  // biome-ignore lint/suspicious/noExplicitAny: each receiver looks at fields of its own
  body: any
}

export const hookToken = 'token-of-the-hook'

/**
 * Starts a server with a webhook of a project, and returns its deliveries during `work`, and until one of
 * this kind has arrived.
 */
export async function receive(
  work: Work,
  project: LabProject,
  kind: string,
  events: { [name: string]: boolean },
  cause: () => Promise<unknown>,
): Promise<Delivery> {
  const received: Delivery[] = []
  const server = createServer(async (request, response) => {
    received.push({ headers: request.headers, body: await json(request) })
    response.end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  try {
    const hook = { url: `http://127.0.0.1:${port}/`, token: hookToken, push_events: false, ...events }
    await work.api('POST', `/projects/${project.id}/hooks`, hook)
    await cause()
    const found = () => received.find(({ body }) => body.object_kind === kind)
    await waitFor(() => found() !== undefined, { what: `a webhook of the kind ${kind}`, timeoutMs: 60_000 })
    return found() as Delivery
  } finally {
    server.close()
  }
}
