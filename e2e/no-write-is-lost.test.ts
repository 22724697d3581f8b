import { setTimeout as sleep } from 'node:timers/promises'
import { credentials, Metadata } from '@grpc/grpc-js'
import { type CommonResponse, SagaClient } from '@switchyard/contracts/saga'
import {
  EventOutcome,
  type ReportEventsResponse,
  ReportedEvent,
  SagaIngestClient,
} from '@switchyard/contracts/saga-ingest'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { listDescendants } from './support/processes.js'
import { startTree, type Tree } from './support/tree.js'
import { waitFor } from './support/wait-for.js'

/** Everything that a service has acknowledged: ids of sagas, of single calls and of batches, hashes of commits, names of statuses. */
const acknowledged = {
  sagas: [] as string[],
  batches: [] as string[],
  httpBatches: [] as string[],
  commits: [] as string[],
  statuses: [] as string[],
}
type Kind = keyof typeof acknowledged
const kinds = Object.keys(acknowledged) as Kind[]

let tree: Tree
let client: SagaClient
let ingest: SagaIngestClient
let firstCommit: string

const api = (path: string, form?: Record<string, string>) =>
  fetch(`${tree.url}/api/v4/${path}`, {
    method: form ? 'POST' : 'GET',
    headers: { 'PRIVATE-TOKEN': tree.rootToken },
    ...(form && { body: new URLSearchParams(form) }),
    signal: AbortSignal.timeout(10_000),
  })

async function created(path: string, form: Record<string, string>): Promise<Record<string, unknown>> {
  const response = await api(path, form)
  if (response.status !== 201) throw new Error(`${response.status} ${await response.text()}`)
  return (await response.json()) as Record<string, unknown>
}

const commit = (name: string) =>
  created('projects/root%2Fsafe/repository/commits', {
    branch: 'main',
    commit_message: name,
    'actions[][action]': 'create',
    'actions[][file_path]': name,
    'actions[][content]': name,
  })

function reportSaga(sagaId: string): Promise<CommonResponse> {
  return new Promise((resolve, reject) => {
    const options = { deadline: Date.now() + 10_000 }
    client.sagaStarted({ sagaId, serviceName: 'e2e' }, new Metadata(), options, (error, response) =>
      error ? reject(error) : resolve(response),
    )
  })
}

const sagasOfBatch = 20
const sagaIdsOf = (batch: string) => Array.from({ length: sagasOfBatch }, (_, index) => `${batch}-${index}`)

function reportBatch(batch: string): Promise<ReportEventsResponse> {
  const events = sagaIdsOf(batch).map((sagaId) =>
    ReportedEvent.fromPartial({ id: sagaId, sagaStarted: { sagaId, serviceName: 'batches' } }),
  )
  return new Promise((resolve, reject) => {
    const options = { deadline: Date.now() + 10_000 }
    ingest.reportEvents({ events }, new Metadata(), options, (error, response) =>
      error ? reject(error) : resolve(response),
    )
  })
}

async function postBatch(batch: string): Promise<string[]> {
  const events = sagaIdsOf(batch).map((saga_id) => ({
    operation: 'SagaStarted',
    event_id: saga_id,
    saga_id,
    service_name: 'http-batches',
  }))
  const response = await fetch(`${tree.url}/api/v4/saga_events`, {
    method: 'POST',
    headers: { 'PRIVATE-TOKEN': tree.rootToken, 'Content-Type': 'application/json' },
    body: JSON.stringify({ events }),
    signal: AbortSignal.timeout(10_000),
  })
  if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`)
  const { results } = (await response.json()) as { results: { outcome: string }[] }
  return results.map(({ outcome }) => outcome)
}

/** The sagas of a batch whose events were acknowledged. */
function acknowledgedOf(batch: string, isStored: (index: number) => boolean): string[] {
  const stored = sagaIdsOf(batch).filter((_, index) => isStored(index))
  if (stored.length === 0) throw new Error('no event of the batch was stored')
  return stored
}

/** Writes one thing, or the things of one batch, under a new name, and returns what was acknowledged. */
const writers: Record<Kind, (name: string) => Promise<string | string[]>> = {
  batches: async (name) => {
    const { results } = await reportBatch(name)
    const { EVENT_OUTCOME_RECORDED, EVENT_OUTCOME_DUPLICATE } = EventOutcome
    const stored = [EVENT_OUTCOME_RECORDED, EVENT_OUTCOME_DUPLICATE]
    return acknowledgedOf(name, (index) => stored.includes(results[index]?.outcome ?? -1))
  },
  httpBatches: async (name) => {
    const outcomes = await postBatch(name)
    return acknowledgedOf(name, (index) => ['recorded', 'duplicate'].includes(outcomes[index] ?? ''))
  },
  sagas: async (name) => {
    const { isSuccess } = await reportSaga(name)
    if (!isSuccess) throw new Error('a fault of ours must never be told to the caller as a refusal')
    return name
  },
  commits: async (name) => String((await commit(name)).id),
  statuses: async (name) => {
    await created(`projects/root%2Fsafe/statuses/${firstCommit}`, { state: 'success', name })
    return name
  },
}

async function writeUntil(kind: Kind, stopped: () => boolean): Promise<void> {
  for (let number = 1; !stopped(); number += 1) {
    try {
      acknowledged[kind].push(...[await writers[kind](`${kind}-${number}`)].flat())
      // Every saga is listed at the end, so batches do not come as fast as they can.
      if (kind === 'batches' || kind === 'httpBatches') await sleep(200)
    } catch {
      await sleep(50)
    }
  }
}

/** Every page of a list. */
async function listAll(path: string): Promise<Record<string, unknown>[]> {
  const items: Record<string, unknown>[] = []
  let next: string | undefined = `${path}${path.includes('?') ? '&' : '?'}per_page=100`
  while (next !== undefined) {
    const response = await api(next)
    items.push(...((await response.json()) as Record<string, unknown>[]))
    next = /api\/v4\/([^>]*)>; rel="next"/.exec(response.headers.get('Link') ?? '')?.[1]
  }
  return items
}

beforeAll(async () => {
  tree = await startTree()
  client = new SagaClient(tree.grpcAddress, credentials.createInsecure())
  ingest = new SagaIngestClient(tree.grpcAddress, credentials.createInsecure())
  await created('projects', { name: 'safe' })
  firstCommit = String((await commit('first')).id)
})

afterAll(async () => {
  client?.close()
  ingest?.close()
  await tree?.stop()
})

it('kill -9 of services and servers during work loses no acknowledged saga event, single or of a batch, no commit and no status', async () => {
  let stopped = false
  const writing = kinds.map((kind) => writeUntil(kind, () => stopped))
  const progressed = (counts: number[]) => () =>
    kinds.every((kind, index) => acknowledged[kind].length > (counts[index] ?? 0) + 5)
  const counts = () => kinds.map((kind) => acknowledged[kind].length)

  for (const victim of [
    'saga-reporter/dist/bundle/main.js',
    'git-api/dist/bundle/main.js',
    'postgres/cluster',
    'redis.sock',
  ]) {
    await waitFor(`work before ${victim} is killed`, progressed(counts()))
    const { pid } = listDescendants(tree.pid).find(({ command }) => command.includes(victim)) ?? {}
    expect(pid).toBeGreaterThan(0)
    process.kill(pid ?? 0, 'SIGKILL')
    await waitFor(`work after ${victim} was killed`, progressed(counts()))
  }
  stopped = true
  await Promise.all(writing)

  const commits = new Set((await listAll('projects/root%2Fsafe/repository/commits')).map(({ id }) => id))
  expect(acknowledged.commits.filter((id) => !commits.has(id))).toEqual([])
  const statusesPath = `projects/root%2Fsafe/repository/commits/${firstCommit}/statuses?all=true`
  const statuses = new Set((await listAll(statusesPath)).map(({ name }) => name))
  expect(acknowledged.statuses.filter((name) => !statuses.has(name))).toEqual([])
  for (const [kind, service] of [
    ['sagas', 'e2e'],
    ['batches', 'batches'],
    ['httpBatches', 'http-batches'],
  ] as const) {
    const sagas = new Set((await listAll(`sagas?service_name=${service}`)).map((saga) => saga.saga_id))
    expect(acknowledged[kind].filter((id) => !sagas.has(id))).toEqual([])
  }
})
