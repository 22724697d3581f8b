import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { loadSync, type ServiceDefinition } from '@grpc/proto-loader'

export interface ReceivedSpan {
  service: string
  name: string
  traceId: string
  spanId: string
  /** Empty for the first span of a trace. */
  parentSpanId: string
}

interface ExportRequest {
  resourceSpans: {
    resource: { attributes: { key: string; value: { stringValue: string } }[] }
    scopeSpans: { spans: { traceId: Buffer; spanId: Buffer; parentSpanId: Buffer; name: string }[] }[]
  }[]
}

const proto = loadSync(join(import.meta.dirname, 'otlp-traces.proto'), { defaults: true })
const service = proto['opentelemetry.proto.collector.trace.v1.TraceService'] as ServiceDefinition

function spansOf(body: Buffer): ReceivedSpan[] {
  const request = service.Export?.requestDeserialize(body) as ExportRequest
  return request.resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const name = resource.attributes.find(({ key }) => key === 'service.name')?.value.stringValue ?? ''
    return scopeSpans
      .flatMap(({ spans }) => spans)
      .map((span) => ({
        service: name,
        name: span.name,
        traceId: span.traceId.toString('hex'),
        spanId: span.spanId.toString('hex'),
        parentSpanId: span.parentSpanId.toString('hex'),
      }))
  })
}

/** Starts a server that receives spans in OTLP, and webhooks at any other path. */
export async function startTraceReceiver(address = '127.0.0.1') {
  const spans: ReceivedSpan[] = []
  const refused: ReceivedSpan[][] = []
  const bodies: Buffer[] = []
  const hooks: IncomingHttpHeaders[] = []
  let isAway = false
  const server = createServer(async (request, response) => {
    const body = await buffer(request)
    if (request.url !== '/v1/traces') hooks.push(request.headers)
    else if (isAway) {
      refused.push(spansOf(body))
      request.socket.destroy()
    } else {
      bodies.push(body)
      spans.push(...spansOf(body))
    }
    response.end()
  }).listen(0, address)
  await once(server, 'listening')
  return {
    url: `http://${address}:${(server.address() as AddressInfo).port}`,
    spans,
    /** The spans of each refused request. */
    refused,
    /** The bodies as they were sent. */
    bodies,
    /** Headers of the webhooks, in order. */
    hooks,
    /** Breaks every connection that sends spans from now on. */
    leave() {
      isAway = true
    },
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}
