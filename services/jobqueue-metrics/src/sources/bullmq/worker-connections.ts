import { nameAndValue } from '@switchyard/domain'
import type { WorkerProcess } from '../sources.js'

/** An open connection of a BullMQ worker in CLIENT LIST. */
export interface WorkerConnection {
  queue: string
  /** Name of the worker; empty without one. */
  worker: string
  host: string
  ageSeconds: number
}

/**
 * Finds the connections of a prefix's workers: each is named `<prefix>:<base64 of the queue>`, followed by
 * `:w:<name>` when the worker has a name.
 *
 * @param clientList answer of CLIENT LIST, one connection a line
 */
export function workerConnectionsOf(clientList: string, prefix: string): WorkerConnection[] {
  return clientList.split('\n').flatMap((line) => {
    if (!line.includes(` name=${prefix}:`)) return []
    const fields = new Map(line.split(' ').map(nameAndValue))
    const [encoded = '', kind, ...worker] = (fields.get('name') ?? '').slice(prefix.length + 1).split(':')
    const queue = Buffer.from(encoded, 'base64').toString('utf8')
    const isQueue = encoded !== '' && Buffer.from(queue, 'utf8').toString('base64') === encoded
    if (!isQueue || (kind !== undefined && kind !== 'w')) return []
    const ageSeconds = Number(fields.get('age') ?? 0)
    return [{ queue, worker: worker.join(':'), host: hostOf(fields.get('addr') ?? ''), ageSeconds }]
  })
}

/** Returns the address without its port; an IPv6 address without its brackets. */
const hostOf = (address: string) => {
  const host = address.slice(0, address.lastIndexOf(':'))
  return host.startsWith('[') ? host.slice(1, -1) : host
}

/**
 * CLIENT LIST has ages in whole seconds, so a start that is computed from one differs by up to this between
 * reads.
 */
const ageRoundingMs = 2000

/**
 * Derives processes without a heartbeat from their connections: one for each address and worker name. Their
 * pid and concurrency are unknown and shown as 0; their start is their last connection.
 *
 * @param startsMs starts of the processes of the previous read, by identity; a process keeps its start
 * @param busyOf number of running jobs of a queue, in all processes
 */
export function processesOf(
  connections: readonly WorkerConnection[],
  nowMs: number,
  startsMs: ReadonlyMap<string, number>,
  busyOf: (queue: string) => number,
): WorkerProcess[] {
  const groups = new Map<string, WorkerConnection[]>()
  for (const connection of connections) {
    const identity = `${connection.host}:${connection.worker}`
    const group = groups.get(identity)
    if (group) group.push(connection)
    else groups.set(identity, [connection])
  }
  return [...groups].map(([identity, group]) => {
    const queues = [...new Set(group.map(({ queue }) => queue))].sort()
    const seenMs = nowMs - group.reduce((max, { ageSeconds }) => Math.max(max, ageSeconds), 0) * 1000
    const knownMs = startsMs.get(identity) ?? seenMs
    return {
      identity,
      hostname: group[0]?.host ?? '',
      pid: 0,
      tag: group[0]?.worker ?? '',
      startedAt: new Date(Math.abs(knownMs - seenMs) < ageRoundingMs ? knownMs : seenMs),
      queues,
      labels: [],
      concurrency: 0,
      busy: queues.reduce((sum, queue) => sum + busyOf(queue), 0),
      quiet: false,
      beatMs: null,
      rssKib: null,
    }
  })
}
