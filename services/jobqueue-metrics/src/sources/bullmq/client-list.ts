import type { WorkerProcess } from '../job-source.js'

/** A connection that a BullMQ worker holds open, as CLIENT LIST shows it. */
export interface WorkerClient {
  queue: string
  /** Name of the worker, when it was given one. */
  worker: string
  host: string
  ageSeconds: number
}

const fieldOf = (line: string, name: string) =>
  line
    .split(' ')
    .find((field) => field.startsWith(`${name}=`))
    ?.slice(name.length + 1) ?? ''

/** The address without its port; an IPv6 address without its brackets. */
const hostOf = (address: string) => address.replace(/:\d+$/, '').replace(/^\[|\]$/g, '')

/**
 * Finds the workers of a prefix among connections: they call themselves `<prefix>:<base64 of the queue>`, with
 * `:w:<name>` behind it when they have a name.
 *
 * @param lines of CLIENT LIST
 */
export function workerClientsOf(lines: string[], prefix: string): WorkerClient[] {
  return lines.flatMap((line) => {
    const name = fieldOf(line, 'name')
    if (!name.startsWith(`${prefix}:`)) return []
    const [encoded = '', kind, ...worker] = name.slice(prefix.length + 1).split(':')
    const queue = Buffer.from(encoded, 'base64').toString('utf8')
    const isQueue = encoded !== '' && Buffer.from(queue, 'utf8').toString('base64') === encoded
    if (!isQueue || (kind !== undefined && kind !== 'w')) return []
    return [
      {
        queue,
        worker: worker.join(':'),
        host: hostOf(fieldOf(line, 'addr')),
        ageSeconds: Number(fieldOf(line, 'age')),
      },
    ]
  })
}

/** CLIENT LIST tells ages in whole seconds, so what it says of one start differs by so much from look to look. */
const ageRoundingMs = 2000

/** Guesses processes from connections, for workers without a heartbeat. */
export interface ProcessGuesser {
  /**
   * One process for each address and worker name. Their pid and concurrency are unknown, and shown as 0; they started
   * when they connected last.
   *
   * @param busyOf jobs under way of a queue, whoever runs them
   */
  guess(clients: WorkerClient[], nowMs: number, busyOf: (queue: string) => number): WorkerProcess[]
}

export function createProcessGuesser(): ProcessGuesser {
  let starts = new Map<string, number>()
  return {
    guess(clients, nowMs, busyOf) {
      const groups = new Map<string, WorkerClient[]>()
      for (const client of clients) {
        const identity = `${client.host}:${client.worker}`
        groups.set(identity, [...(groups.get(identity) ?? []), client])
      }
      const current: typeof starts = new Map()
      const processes = [...groups].map(([identity, group]) => {
        const startMs = nowMs - Math.max(...group.map(({ ageSeconds }) => ageSeconds)) * 1000
        const known = starts.get(identity) ?? startMs
        current.set(identity, Math.abs(known - startMs) < ageRoundingMs ? known : startMs)
        return processOf(identity, group, current.get(identity) ?? startMs, busyOf)
      })
      starts = current
      return processes
    },
  }
}

function processOf(
  identity: string,
  group: WorkerClient[],
  startMs: number,
  busyOf: (queue: string) => number,
): WorkerProcess {
  const queues = [...new Set(group.map(({ queue }) => queue))].sort()
  return {
    identity,
    hostname: group[0]?.host ?? '',
    pid: 0,
    tag: group[0]?.worker ?? '',
    startedAt: new Date(startMs),
    queues,
    labels: [],
    concurrency: 0,
    busy: queues.reduce((sum, queue) => sum + busyOf(queue), 0),
    quiet: false,
    beatMs: null,
    rssKib: null,
  }
}
