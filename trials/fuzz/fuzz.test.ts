import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, type ServiceError, status } from '@grpc/grpc-js'
import {
  ActivityEndedRequest,
  ActivityExecuteAbortedRequest,
  ActivityExecuteStartedRequest,
  SagaService,
  SagaStartedRequest,
} from '@switchyard/contracts/saga'
import { ReportEventsRequest, SagaIngestService } from '@switchyard/contracts/saga-ingest'
import { packetLine } from '@switchyard/git-storage/git-http'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { insecure } from '../../ops/gateway/test/support/grpc.js'
import { documentsOf, makeRows, operationsOf } from '../../ops/gateway/test/support/operations.js'
import { type ServiceName, startServices } from '../../ops/gateway/test/support/services.js'
import { fuzzBounds, fuzzTimeoutMs, hangMs } from './bounds.js'
import { type FuzzRequest, httpRequests } from './http-requests.js'
import { mutated, oddJson } from './odd-values.js'

const names = ['git-api', 'saga-reporter', 'admin-broadcast', 'jobqueue-metrics'] as const

let services: Awaited<ReturnType<typeof startServices>>
let requests: fc.Arbitrary<FuzzRequest>
let values: Record<string, string>
let startTimes: (string | undefined)[]
const agent = new Agent({ keepAlive: true, maxSockets: 8 })

beforeAll(async () => {
  services = await startServices({ RATE_LIMIT_PER_MINUTE: '0', SAGA_RATE_LIMIT: '0' })
  values = await makeRows(services)
  requests = httpRequests(operationsOf(await documentsOf(services)), values)
  startTimes = await Promise.all(names.map(startTimeOf))
})
afterAll(async () => {
  agent.destroy()
  await services?.stop()
})

/** Returns when the process of a service started; a changed time means that it was restarted. */
async function startTimeOf(name: ServiceName) {
  const answer = await fetch(`http://127.0.0.1:${services.ports[name]}/metrics`)
  return /^process_start_time_seconds.*/m.exec(await answer.text())?.[0]
}

/** Checks that every service is ready, in its original process. */
async function expectServing() {
  for (const name of names) {
    const ready = await fetch(`http://127.0.0.1:${services.ports[name]}/-/readiness`)
    expect(ready.status, name).toBe(200)
  }
  expect(startTimes).not.toContain(undefined)
  expect(await Promise.all(names.map(startTimeOf))).toEqual(startTimes)
}

interface Given {
  method: string
  path: string
  headers: Record<string, string>
  body: string | Uint8Array
}

/** Resolves with the status of the answer when it is complete. */
const statusOf = (service: ServiceName, { method, path, headers, body }: Given) =>
  new Promise<number>((resolve, reject) => {
    const options = { host: '127.0.0.1', port: services.ports[service], method, path, agent }
    const length = { 'Content-Length': Buffer.byteLength(body) }
    const outgoing = request({ ...options, headers: { ...headers, ...length } }, (answer) => {
      answer.resume().once('close', () => resolve(answer.statusCode ?? 0))
    })
    outgoing.setTimeout(hangMs, () => outgoing.destroy(new Error(`no answer within ${hangMs} ms`)))
    outgoing.once('error', reject).end(body)
  })

it('every request of the REST API, well formed or not, is answered, and never with 5xx', {
  timeout: fuzzTimeoutMs,
}, async () => {
  const token = { 'PRIVATE-TOKEN': services.rootToken }
  const property = fc.asyncProperty(fc.array(requests, { minLength: 1, maxLength: 8 }), async (some) => {
    const all = some.map(({ service, ...given }) =>
      statusOf(service, { ...given, headers: { ...given.headers, ...token } }),
    )
    for (const code of await Promise.all(all)) expect(code).toBeLessThan(500)
  })
  await fc.assert(property, fuzzBounds())
  await expectServing()
})

/** Statuses that no invalid bytes of an orchestrator may cause, because they mean a fault of the server. */
const grpcFaults = [status.UNKNOWN, status.UNAVAILABLE, status.DEADLINE_EXCEEDED, status.RESOURCE_EXHAUSTED]

it('every message of the gRPC API, well formed or not, is answered, and the server survives', {
  timeout: fuzzTimeoutMs,
}, async () => {
  const client = new Client(`127.0.0.1:${services.ports['saga-reporter-grpc']}`, insecure)
  const deadline = () => ({ deadline: Date.now() + hangMs })
  const send = (path: string, bytes: Uint8Array) =>
    new Promise<ServiceError | null>((resolve) => {
      const pass = (buffer: Buffer) => buffer
      client.makeUnaryRequest(path, pass, pass, Buffer.from(bytes), deadline(), (error) => resolve(error))
    })
  const calls = sagaMessages().map(({ path, bytes }) => mutated(bytes).map((changed) => ({ path, changed })))
  const property = fc.asyncProperty(
    fc.array(fc.oneof(...calls), { minLength: 1, maxLength: 16 }),
    async (some) => {
      const errors = await Promise.all(some.map(({ path, changed }) => send(path, changed)))
      for (const error of errors) {
        if (error?.code === status.INTERNAL) expect(error.details).toMatch(/deserializing/)
        expect(grpcFaults).not.toContain(error?.code)
      }
    },
  )
  try {
    await fc.assert(property, fuzzBounds())
  } finally {
    client.close()
  }
  await expectServing()
})

/** Returns a valid message of each method with different fields. */
function sagaMessages() {
  const ids = { sagaId: 'fuzz', activityId: 'fuzz-1' }
  const started = SagaStartedRequest.create({ sagaId: 'fuzz', serviceName: 'orders' })
  const execute = ActivityExecuteStartedRequest.create({ ...ids, timeOutSeconds: 60, parameterData: payload })
  const ended = ActivityEndedRequest.create({ ...ids, resultData: payload })
  const aborted = ActivityExecuteAbortedRequest.create({ activityId: ids.activityId, errors: 'no' })
  const batch = ReportEventsRequest.create({
    events: [
      { id: 'e1', seq: 1, time: new Date(0), tags: ['a=b'], sagaStarted: started },
      { id: 'e2', activityExecuteStarted: execute },
    ],
  })
  const { sagaStarted, activityExecuteStarted, activityEnded, activityExecuteAborted } = SagaService
  return [
    { path: sagaStarted.path, bytes: sagaStarted.requestSerialize(started) },
    { path: activityExecuteStarted.path, bytes: activityExecuteStarted.requestSerialize(execute) },
    { path: activityEnded.path, bytes: activityEnded.requestSerialize(ended) },
    { path: activityExecuteAborted.path, bytes: activityExecuteAborted.requestSerialize(aborted) },
    {
      path: SagaIngestService.reportEvents.path,
      bytes: SagaIngestService.reportEvents.requestSerialize(batch),
    },
  ]
}

const payload = Buffer.from('{"a":1}')

/** Returns the answers of git and of LFS to bytes, as the administrator. */
const gitStatusOf = (
  path: string,
  body: string | Uint8Array,
  headers: Record<string, string>,
  method = 'POST',
) =>
  statusOf('git-api', {
    method,
    path: `/root/demo.git/${path}`,
    headers: { Authorization: `Basic ${btoa(`root:${services.rootToken}`)}`, ...headers },
    body,
  })

it('every fetch and push, well formed or not, is answered, never with 5xx, and the repository stays intact', {
  timeout: fuzzTimeoutMs,
}, async () => {
  const work = mkdtempSync(join(tmpdir(), 'switchyard-fuzz-'))
  const git: Git = (args, input) =>
    execFileSync('git', ['-C', work, '-c', 'user.name=f', '-c', 'user.email=f@example.com', ...args], {
      input,
    })
  try {
    const remote = `http://root:${services.rootToken}@127.0.0.1:${services.ports['git-api']}/root/demo.git`
    git(['clone', '--quiet', remote, '.'])
    const requests = gitBodies(git).map(({ service, bytes }) =>
      fc.record({
        service: fc.constant(service),
        body: mutated(bytes),
        version: fc.constantFrom<Record<string, string>>({}, { 'Git-Protocol': 'version=2' }),
      }),
    )
    const property = fc.asyncProperty(fc.oneof(...requests), async ({ service, body, version }) => {
      const type = { 'Content-Type': `application/x-${service}-request` }
      expect(await gitStatusOf(service, body, { ...type, ...version })).toBeLessThan(500)
    })
    await fc.assert(property, fuzzBounds())
    git(['commit', '--quiet', '--allow-empty', '--message', 'After all of it'])
    git(['push', '--quiet', remote, 'HEAD:refs/heads/after'])
    git(['clone', '--quiet', remote, 'again'])
    git(['-C', 'again', 'fsck', '--full', '--strict'])
    await expectServing()
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
})

type Git = (args: string[], input?: string) => Buffer

/**
 * Returns request bodies as git sends them: fetches in protocol versions 0 and 2, and a push of one commit.
 */
function gitBodies(git: Git) {
  const tip = String(git(['rev-parse', 'HEAD'])).trim()
  const commit = String(git(['commit-tree', 'HEAD^{tree}', '-p', tip, '-m', 'Pushed'])).trim()
  const pack = git(['pack-objects', '--quiet', '--stdout'], `${commit}\n`)
  const update = packetLine(
    `${'0'.repeat(40)} ${commit} refs/heads/fuzz\0 report-status delete-refs ofs-delta`,
  )
  const want = packetLine(`want ${tip} side-band-64k ofs-delta\n`)
  const done = packetLine('done\n')
  const fetchTwo = `${packetLine('command=fetch')}0001${packetLine(`want ${tip}\n`)}${done}0000`
  const listTwo = `${packetLine('command=ls-refs\n')}0001${packetLine('peel\n')}0000`
  return [
    { service: 'git-receive-pack', bytes: Buffer.concat([Buffer.from(`${update}0000`), pack]) },
    { service: 'git-upload-pack', bytes: Buffer.from(`${want}0000${done}`) },
    { service: 'git-upload-pack', bytes: Buffer.from(fetchTwo) },
    { service: 'git-upload-pack', bytes: Buffer.from(listTwo) },
  ]
}

it('every request of LFS, well formed or not, is answered, never with 5xx', {
  timeout: fuzzTimeoutMs,
}, async () => {
  const json = { 'Content-Type': 'application/vnd.git-lfs+json', Accept: 'application/vnd.git-lfs+json' }
  const content = 'large'
  const oid = createHash('sha256').update(content).digest('hex')
  const batch = { operation: 'upload', transfers: ['basic'], objects: [{ oid, size: content.length }] }
  const field = fc.oneof(fc.constantFrom<unknown>(...Object.values(batch)), oddJson)
  const bodies = fc.oneof(
    fc.record({ operation: field, transfers: field, objects: field }).map((value) => JSON.stringify(value)),
    mutated(Buffer.from(JSON.stringify(batch))),
    oddJson.map((value) => JSON.stringify(value) ?? ''),
  )
  const batches = bodies.map((body) => () => gitStatusOf('info/lfs/objects/batch', body, json))
  const uploads = fc
    .record({
      id: fc.constantFrom(oid, oid.toUpperCase(), oid.slice(1), '0'.repeat(64)),
      size: fc.constantFrom('5', '0', '-1', '6', '9007199254740993', '1e3', '%00'),
      body: mutated(Buffer.from(content)),
    })
    .map(({ id, size, body }) => () => {
      const type = { 'Content-Type': 'application/octet-stream' }
      return gitStatusOf(`gitlab-lfs/objects/${id}/${size}`, body, type, 'PUT')
    })
  const property = fc.asyncProperty(fc.oneof(batches, uploads), async (send) => {
    expect(await send()).toBeLessThan(500)
  })
  await fc.assert(property, fuzzBounds())
  await expectServing()
})
