import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { credentials, Metadata } from '@grpc/grpc-js'
import { SagaClient } from '@switchyard/contracts/saga'
import { waitFor } from '@switchyard/testing'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Api, apiOf } from '../support/api.js'
import { type ReceivedSpan, startTraceReceiver } from '../support/trace-receiver.js'
import { startTree, type Tree } from '../support/tree.js'

const hookSecret = 'whsec-of-the-trace-test'
const commitTrace = 'c0117117c0117117c0117117c0117117'
const sagaTrace = '5a9a5a9a5a9a5a9a5a9a5a9a5a9a5a9a'
const callerSpan = '00f067aa0ba902b7'
const parentOf = (trace: string) => `00-${trace}-${callerSpan}-01`

let tree: Tree
let api: Api
let receiver: Awaited<ReturnType<typeof startTraceReceiver>>

beforeAll(async () => {
  receiver = await startTraceReceiver()
  tree = await startTree({
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_BSP_SCHEDULE_DELAY: '200',
      // With a longer timeout, the exporter would retry before it reports the failure.
      OTEL_EXPORTER_OTLP_TIMEOUT: '1000',
      WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true',
    },
  })
  api = apiOf(tree.url, tree.rootToken)
})
afterAll(async () => {
  await tree?.stop()
  receiver?.close()
})

/** Resolves with the first span of a trace and a service whose name begins with the given text. */
const spanIn = (trace: string, service: string, name: string): Promise<ReceivedSpan> =>
  waitFor(
    () =>
      receiver.spans.find(
        (span) => span.traceId === trace && span.service === service && span.name.startsWith(name),
      ) ?? false,
    { what: `${name} of ${service}` },
  )

/** Returns the lines of a service's log. */
const logOf = (service: string): Record<string, unknown>[] =>
  readFileSync(join(tree.dataDir, 'logs', `${service}.log`), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line))

async function commitTraced() {
  const hook = { url: `${receiver.url}/hook/of/secret-path`, token: hookSecret, push_events: true }
  await api('POST', '/projects', { name: 'traced' })
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
}

it('one trace follows a commit from the gateway to its job and the delivery of its webhook', async () => {
  await commitTraced()
  const request = await spanIn(commitTrace, 'git-api', 'POST /api/v4/projects/:id/repository/commits')
  expect(request.parentSpanId).toBe(callerSpan)
  const statement = await spanIn(commitTrace, 'git-api', 'pg.query')
  expect(statement.parentSpanId).toBe(request.spanId)
  const added = await spanIn(commitTrace, 'git-api', 'add repository-housekeeping')
  expect(added.parentSpanId).toBe(request.spanId)
  const job = await spanIn(commitTrace, 'worker', 'process repository-housekeeping')
  expect(job.parentSpanId).toBe(added.spanId)
  const delivery = await spanIn(commitTrace, 'worker', 'deliver webhook')
  expect(delivery.parentSpanId).toBe(request.spanId)
  const sent = await spanIn(commitTrace, 'worker', 'POST')
  expect(sent.parentSpanId).toBe(delivery.spanId)
  expect(receiver.hooks[0]?.traceparent).toBe(`00-${commitTrace}-${sent.spanId}-01`)
})

it('spans contain no token, secret, query, content or path of a webhook receiver', async () => {
  await spanIn(commitTrace, 'worker', 'POST')
  const all = Buffer.concat(receiver.bodies)
  for (const secret of [tree.rootToken, hookSecret, 'secret-content', 'secret-query', 'secret-path'])
    expect(all.includes(secret), secret).toBe(false)
})

it('the calls of a saga are below the span of its orchestrator, whose trace the event shows', async () => {
  const client = new SagaClient(tree.grpcAddress, credentials.createInsecure())
  const metadata = new Metadata()
  metadata.set('traceparent', parentOf(sagaTrace))
  await new Promise<void>((resolve, reject) => {
    const done = (error: Error | null) => (error ? reject(error) : resolve())
    client.sagaStarted({ sagaId: 'traced', serviceName: 'traced' }, metadata, done)
  })
  client.close()
  const call = await spanIn(sagaTrace, 'saga-reporter', 'grpc.')
  expect(call.parentSpanId).toBe(callerSpan)
  const statement = await spanIn(sagaTrace, 'saga-reporter', 'pg.query:saga_events-insert')
  expect(statement.parentSpanId).toBe(call.spanId)
  expect(await api('GET', '/sagas/traced/events')).toMatchObject([{ trace_parent: parentOf(sagaTrace) }])
})

it('log lines contain the span of their request or job', async () => {
  const request = await spanIn(commitTrace, 'git-api', 'POST /api/v4/projects/:id/repository/commits')
  const job = await spanIn(commitTrace, 'worker', 'process repository-housekeeping')
  for (const { service, spanId } of [request, job])
    await waitFor(
      () => logOf(service).some((line) => line.trace_id === commitTrace && line.span_id === spanId),
      { what: `a line of ${service}` },
    )
})

it('an unreachable receiver is reported once, and does not affect serving and stopping', async () => {
  receiver.leave()
  const refusedOf = (service: string) => receiver.refused.filter(([span]) => span?.service === service)
  await waitFor(
    async () => {
      await api('GET', '/projects')
      return refusedOf('git-api').length > 3
    },
    { what: 'exports of git-api that fail', intervalMs: 100 },
  )
  const said = logOf('git-api').filter(({ msg }) => String(msg).includes('traces cannot be sent'))
  expect(said).toMatchObject([{ level: 'warn' }])
  const begun = performance.now()
  await tree.stop()
  expect(performance.now() - begun).toBeLessThan(10_000)
})

it('no service loads the SDK while traces are off', () => {
  const services = resolve(import.meta.dirname, '../../services')
  for (const service of readdirSync(services)) {
    const { loaded, late } = sourcesOf(join(services, service, 'dist/bundle'))
    expect(loaded.filter(isOfSdk), service).toEqual([])
    expect(late.some(isOfSdk), service).toBe(true)
  }
})

/** Returns whether a source belongs to the SDK. prom-client loads only the API. */
const isOfSdk = (source: string) => /node_modules\/(@opentelemetry\/(?!api\/)|bullmq-otel\/)/.test(source)

/** Returns the source files in a bundle: `loaded` when the service starts, `late` by dynamic imports. */
function sourcesOf(bundle: string): { loaded: string[]; late: string[] } {
  const files = readdirSync(bundle).filter((file) => file.endsWith('.js'))
  const loaded = new Set(['main.js'])
  // Iterating over a set includes elements that are added meanwhile.
  for (const file of loaded) {
    const imports = readFileSync(join(bundle, file), 'utf8').matchAll(/\b(?:from|import)\s*"\.\/([^"]+)"/g)
    for (const [, name = ''] of imports) loaded.add(name)
  }
  const sources = (file: string): string[] =>
    JSON.parse(readFileSync(join(bundle, `${file}.map`), 'utf8')).sources
  return {
    loaded: [...loaded].flatMap(sources),
    late: files.filter((file) => !loaded.has(file)).flatMap(sources),
  }
}
