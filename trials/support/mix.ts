import { setTimeout as delay } from 'node:timers/promises'
import { createSagaClient, type SagaClient } from '../../packages/saga-client/src/index.js'
import { call, createUser } from './api.js'
import type { Tree } from './tree.js'

/** Most parallel runs of the mix. */
export const underWayMax = 200
/**
 * Number of users with a project each, because one sender may have only a limited number of requests in
 * parallel.
 */
const userCount = 20
const branches = Array.from({ length: 8 }, (_, index) => `branch-${index}`)
const readPaths = ['/sagas?per_page=20', '/broadcast_messages', '/jobqueue/queue_metrics', '/user']

/** A mix of typical requests. No list that it reads grows over time, so that the load stays the same. */
export interface Mix {
  /**
   * Makes a commit with three statuses and a comment, six reads and a saga of eight events. Rejects when one
   * of them fails.
   */
  once(): Promise<void>
  close(): Promise<void>
}

export async function createMix(tree: Tree): Promise<Mix> {
  const ask = async (token: string, path: string, body?: object): Promise<Record<string, unknown>> => {
    const answer = await call(tree, token, body ? 'POST' : 'GET', path, body)
    if (answer.status >= 300) throw new Error(`${answer.status} ${path.replace(/[0-9a-f]{40}|\d+/g, '…')}`)
    return answer.body
  }
  const clients = [1, undefined].map((batchEventsMax) =>
    createSagaClient({
      address: tree.grpcAddress,
      serviceName: 'soak',
      token: tree.rootToken,
      ...(batchEventsMax ? { batchEventsMax } : {}),
    }),
  )
  const users = await Promise.all(
    Array.from({ length: userCount }, (_, index) => createUser(tree, `soak-${index}`)),
  )
  for (const { token, project } of users)
    for (const branch of branches)
      await ask(token, `/projects/${project}/repository/branches?branch=${branch}&ref=main`, {})
  let number = 0
  return {
    async once() {
      number += 1
      const { token, project } = users[number % userCount] as Awaited<ReturnType<typeof createUser>>
      const round = Math.floor(number / userCount)
      const branch = branches[round % branches.length] ?? ''
      // Two parallel changes of the same file conflict, so each has its own file meanwhile.
      const file_path = `file-${Math.floor(round / branches.length) % underWayMax}`
      const actions = [{ action: 'upsert', file_path, content: `${number}\n` }]
      const body = { branch, commit_message: `commit ${number}`, actions }
      const { id } = await ask(token, `/projects/${project}/repository/commits`, body)
      for (const state of ['pending', 'running', 'success'])
        await ask(token, `/projects/${project}/statuses/${id}`, { state, name: 'build', ref: branch })
      await ask(token, `/projects/${project}/repository/commits/${id}/comments`, { note: 'fine' })
      const own = [
        `/projects/${project}/repository/commits?ref_name=${branch}`,
        `/projects/${project}/repository/commits/${id}/diff`,
      ]
      await Promise.all([
        ...own.map((path) => ask(token, path)),
        ...readPaths.map((path) => ask(tree.rootToken, path)),
        reportSaga(clients[number % clients.length] as SagaClient, `soak-${number}`),
      ])
    },
    close: async () => {
      await Promise.all(clients.map((client) => client.close()))
    },
  }
}

async function reportSaga(client: SagaClient, sagaId: string): Promise<void> {
  const activities = ['a', 'b', 'c'].map((name) => ({ sagaId, activityId: `${sagaId}-${name}` }))
  const results = await Promise.all([
    client.sagaStarted({ sagaId }),
    ...activities.flatMap((activity, order) => [
      client.activityExecuteStarted({ ...activity, order, parameter: 'x'.repeat(200) }),
      client.activityEnded({ ...activity, result: { order } }),
    ]),
    client.sagaEnded({ sagaId }),
  ])
  if (results.some(({ outcome }) => outcome !== 'stored')) throw new Error('an event was not stored')
}

export interface Counts {
  done: number
  failed: number
  /** Number of failures by reason. */
  reasons: Map<string, number>
  /** Number of runs that were skipped because too many were in progress. */
  skipped: number
}

/**
 * Measures how often `callers` can run the mix one after the other, without runs that an overloaded service
 * refuses.
 *
 * @returns runs a second
 */
export async function measureCapacity(mix: Mix, callers: number, seconds: number): Promise<number> {
  let done = 0
  const startedMs = performance.now()
  const endMs = startedMs + seconds * 1000
  const caller = async () => {
    while (performance.now() < endMs) {
      await mix.once().then(
        () => {
          done += 1
        },
        () => delay(1000),
      )
    }
  }
  await Promise.all(Array.from({ length: callers }, caller))
  // Callers finish their last round after the given time, so the rate uses the actual duration.
  return done / ((performance.now() - startedMs) / 1000)
}

/** Starts the mix `perSecond` times a second until `isOver`, even when earlier runs fail or are slow. */
export async function keepLoad(
  mix: Mix,
  perSecond: number,
  counts: Counts,
  isOver: () => boolean,
): Promise<void> {
  const startedMs = performance.now()
  const underWay = new Set<Promise<void>>()
  for (let number = 1; !isOver(); number += 1) {
    await delay(Math.max(0, startedMs + (number * 1000) / perSecond - performance.now()))
    if (underWay.size >= underWayMax) {
      counts.skipped += 1
      continue
    }
    const one: Promise<void> = mix
      .once()
      .then(
        () => {
          counts.done += 1
        },
        (error: Error) => {
          counts.failed += 1
          counts.reasons.set(error.message, (counts.reasons.get(error.message) ?? 0) + 1)
        },
      )
      .finally(() => underWay.delete(one))
    underWay.add(one)
  }
  await Promise.all(underWay)
}
