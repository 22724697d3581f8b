import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { credentials, Metadata } from '@grpc/grpc-js'
import { SagaClient } from '@switchyard/contracts/saga'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Api, apiOf } from './console/example-data.js'
import { startTree, type Tree } from './support/tree.js'
import { waitFor } from './support/wait-for.js'

const hookSecret = 'whsec-of-the-trace-test'
const commitTrace = 'c0117117c0117117c0117117c0117117'
const sagaTrace = '5a9a5a9a5a9a5a9a5a9a5a9a5a9a5a9a'
const parentOf = (trace: string) => `00-${trace}-00f067aa0ba902b7-01`

let tree: Tree
let api: Api
let receiver: Server
/** Bodies in OTLP; ids are 16 raw bytes, names and attributes are plain text. */
const exported: Buffer[] = []
const hooks: IncomingHttpHeaders[] = []

beforeAll(async () => {
  receiver = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk) => chunks.push(chunk))
    request.on('end', () => {
      if (request.url === '/v1/traces') exported.push(Buffer.concat(chunks))
      else hooks.push(request.headers)
      response.end()
    })
  }).listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  tree = await startTree({
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: receiverUrl(),
      OTEL_BSP_SCHEDULE_DELAY: '200',
      WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true',
    },
  })
  api = apiOf(tree.url, tree.rootToken)
})
afterAll(async () => {
  await tree?.stop()
  receiver?.close()
})

const receiverUrl = () => `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`

/** Resolves when a service has sent spans with a text in a trace. */
const spanIn = (trace: string, service: string, text: string) =>
  waitFor(`${text} of ${service}`, () =>
    exported.some(
      (body) => body.includes(Buffer.from(trace, 'hex')) && body.includes(service) && body.includes(text),
    ),
  )

it('follows a commit from the gateway to the delivery of its webhook in one trace, without secrets', async () => {
  await api('POST', '/projects', { name: 'traced' })
  const hook = { url: `${receiverUrl()}/hook/of/secret-path`, token: hookSecret, push_events: true }
  await api('POST', '/projects/root%2Ftraced/hooks', hook)
  const actions = [{ action: 'create', file_path: 'a.txt', content: 'secret-content' }]
  const answer = await fetch(`${tree.url}/api/v4/projects/root%2Ftraced/repository/commits?x=secret-query`, {
    method: 'POST',
    headers: {
      'PRIVATE-TOKEN': tree.rootToken,
      'Content-Type': 'application/json',
      traceparent: parentOf(commitTrace),
    },
    body: JSON.stringify({ branch: 'main', commit_message: 'Traced', actions }),
  })
  expect(answer.status).toBe(201)
  const sent = await waitFor('the webhook', () => hooks[0] ?? false)
  expect(sent.traceparent).toMatch(new RegExp(`^00-${commitTrace}-(?!00f067aa0ba902b7)`))
  await spanIn(commitTrace, 'git-api', '/api/v4/projects/:id/repository/commits')
  await spanIn(commitTrace, 'git-api', 'pg.query')
  await spanIn(commitTrace, 'worker', 'deliver webhook')
  const all = Buffer.concat(exported)
  for (const secret of [tree.rootToken, hookSecret, 'secret-content', 'secret-query', 'secret-path'])
    expect(all.includes(secret), secret).toBe(false)
})

it('puts the calls of a saga below the span of its orchestrator, whose trace the event shows', async () => {
  const client = new SagaClient(tree.grpcAddress, credentials.createInsecure())
  const metadata = new Metadata()
  metadata.set('traceparent', parentOf(sagaTrace))
  await new Promise<void>((resolve, reject) => {
    const done = (error: Error | null) => (error ? reject(error) : resolve())
    client.sagaStarted({ sagaId: 'traced', serviceName: 'traced' }, metadata, done)
  })
  client.close()
  await spanIn(sagaTrace, 'saga-reporter', 'grpc.')
  expect(await api('GET', '/sagas/traced/events')).toMatchObject([{ trace_parent: parentOf(sagaTrace) }])
})
