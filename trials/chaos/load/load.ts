import { join } from 'node:path'
import { queryAll } from '../../support/query-all.js'
import type { Installation } from '../installation/installation.js'
import { Api } from './api.js'
import { commands, startOrchestrators } from './commands.js'
import {
  broadcasts,
  comments,
  commits,
  createHook,
  createProject,
  pushes,
  statuses,
} from './project-writers.js'
import { startReceiver } from './receiver.js'
import { type Reported, Traffic } from './traffic.js'
import { createWriter, keepWriting, type Writer } from './writer.js'

export type Load = Awaited<ReturnType<typeof startLoad>>

/** Starts clients of every service, which record the acknowledged writes. */
export async function startLoad(installation: Installation) {
  const { servicesOf, rootToken, nearAddress, folder, databaseUrl } = installation
  const api = (name: string) =>
    new Api(
      servicesOf(name).map(({ url }) => url),
      rootToken,
    )
  const gitApi = api('git-api')
  const sagaApi = api('saga-reporter')
  const receiver = await startReceiver(nearAddress)
  const first = await createProject(gitApi)
  await createHook(gitApi, receiver.url)
  await sagaApi.post('sagas/webhooks', {
    url: receiver.url,
    events: ['saga.error'],
    secret: 'chaos-chaos-chaos',
  })

  const writers = [
    commits(gitApi, 1),
    commits(gitApi, 2),
    pushes(gitApi, rootToken, join(folder, 'clone')),
    statuses(gitApi, first),
    comments(gitApi, first),
    broadcasts(api('admin-broadcast')),
    sagaEventsOverHttp(sagaApi, databaseUrl),
    commands(sagaApi),
  ]
  const orchestrators = startOrchestrators(installation)
  const traffic = new Traffic({
    addresses: servicesOf('saga-reporter').map(({ grpcAddress }) => grpcAddress),
    callers: 8,
    pauseMs: 150,
  })
  let stopped = false
  const writing = writers.map((writer) => keepWriting(writer, () => stopped))
  const reported: Reported[] = [traffic]
  const counts = () => [traffic.stored, ...writers.map(({ ledger }) => ledger.acknowledged)]
  const kinds = ['saga events', ...writers.map(({ kind }) => kind)]
  return {
    api,
    writers,
    traffic,
    receiver,
    orchestrators,
    reported,
    counts,
    /** Returns the numbers of acknowledged writes so far, by kind. */
    acknowledged: () => Object.fromEntries(kinds.map((kind, index) => [kind, counts()[index] ?? 0])),
    failed: () => writers.reduce((sum, { ledger }) => sum + ledger.failed, traffic.failed),
    /** Returns the kinds of writes without a further acknowledgement. */
    idleSince: (before: number[]) =>
      kinds.filter((_, index) => (counts()[index] ?? 0) <= (before[index] ?? 0)),
    /** Starts no further requests, and waits for the end of current ones. */
    async finish() {
      stopped = true
      await Promise.all([...writing, traffic.stop()])
    },
    async close() {
      stopped = true
      await traffic.abandon()
      await Promise.all(writing)
      await orchestrators.stop()
      receiver.close()
    },
  }
}

/** Returns a writer of events in batches of twenty, in a separate tenant, without repetition. */
const sagaEventsOverHttp = (api: Api, databaseUrl: string): Writer =>
  createWriter('saga events over HTTP', 200, (ledger) => ({
    async write(number) {
      const ids = Array.from({ length: 20 }, (_, index) => `http-${number}-${index}`)
      for (const id of ids) ledger.begin(id, '1')
      const events = ids.map((id) => ({
        operation: 'SagaStarted',
        event_id: id,
        saga_id: id,
        service_name: 'http',
        tenant: 'http',
      }))
      const { results } = await api.post<{ results: { outcome: string }[] }>('saga_events', { events })
      for (const [index, id] of ids.entries())
        if (['recorded', 'duplicate'].includes(results[index]?.outcome ?? '')) ledger.acknowledge(id, '1')
    },
    async read() {
      const sql = "SELECT saga_id, count(*)::text AS events FROM saga_events WHERE tenant = 'http' GROUP BY 1"
      return (await queryAll(databaseUrl, sql)).map(
        (row) => [String(row.saga_id), String(row.events)] as const,
      )
    },
  }))
