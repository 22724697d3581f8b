import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Starts a receiver of webhooks, which records the subjects of their bodies. */
export async function startReceiver(host: string) {
  const told = new Set<string>()
  const deliveries = new Set<string>()
  let requests = 0
  const server = createServer(async (request, response) => {
    const body = await readBody(request).catch(() => null)
    if (body === null) return
    requests += 1
    deliveries.add(String(request.headers['x-switchyard-delivery']))
    for (const subject of subjectsOf(JSON.parse(body))) told.add(subject)
    response.end()
  })
  server.listen(0, host)
  await once(server, 'listening')
  return {
    url: `http://${host}:${(server.address() as AddressInfo).port}/`,
    told,
    figures: () => ({ requests, deliveries: deliveries.size }),
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

interface HookBody {
  object_kind?: string
  commits?: { id: string }[]
  object_attributes?: { note: string }
  build_name?: string
  build_status?: string
  event?: string
  saga?: { saga_id: string }
}

/**
 * Returns the subjects of a body: `commit <id>`, `comment <note>`, `status <name> <state>` or `<event>
 * <saga>`.
 */
function subjectsOf(body: HookBody): string[] {
  if (body.object_kind === 'push') return (body.commits ?? []).map(({ id }) => `commit ${id}`)
  if (body.object_kind === 'note') return [`comment ${body.object_attributes?.note}`]
  if (body.object_kind === 'build') return [`status ${body.build_name} ${body.build_status}`]
  return [`${body.event} ${body.saga?.saga_id}`]
}
