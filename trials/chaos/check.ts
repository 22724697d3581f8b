import { join } from 'node:path'
import { waitFor } from '@switchyard/testing'
import { queryAll } from '../support/query-all.js'
import type { Scene } from './faults.js'
import { findWrongCommands } from './load/commands.js'
import { blobId, git } from './load/project-writers.js'
import { findLostEvents, verifyDerivedRows } from './saga-checks.js'

/**
 * Time limit for deliveries: when a worker was killed or a delivery failed, it is sent again half a minute
 * later.
 */
const settledWithinMs = 120_000

/**
 * Ends the load and compares the stored data with the acknowledged writes.
 *
 * @returns the problems, one per line
 */
export async function findProblems(scene: Scene): Promise<string[]> {
  const { installation, load } = scene
  await load.finish()
  const problems: string[] = []
  for (const { kind, ledger, read } of load.writers)
    problems.push(...ledger.compare(await read()).map((problem) => `${kind}: ${problem}`))
  const results = new Map(load.reported.flatMap((reported) => [...reported.results]))
  const finals = new Map(load.reported.flatMap((reported) => [...reported.finals]))
  problems.push(...(await findLostEvents({ results, finals }, installation.databaseUrl)))
  problems.push(...(await verifyDerivedRows(installation.databaseUrl)))
  problems.push(...(await findRepositoryProblems(scene)))
  problems.push(...(await withinBound(() => untold(scene))))
  problems.push(...(await withinBound(() => stuckJobs(scene))))
  problems.push(
    ...(await withinBound(() => findWrongCommands(load.api('saga-reporter'), load.orchestrators))),
  )
  return problems
}

/** Checks until there is no problem, or the time is over. */
async function withinBound(ask: () => Promise<string[]> | string[]): Promise<string[]> {
  try {
    await waitFor(async () => (await ask()).length === 0, {
      what: 'nothing to be wrong',
      timeoutMs: settledWithinMs,
      intervalMs: 100,
    })
    return []
  } catch {
    return ask()
  }
}

async function findRepositoryProblems({ installation, load }: Scene): Promise<string[]> {
  const [project] = await queryAll(
    installation.databaseUrl,
    "SELECT disk_path FROM projects WHERE path = 'chaos'",
  )
  const repository = join(installation.storageRoot, String(project?.disk_path))
  const fsck = await git(repository, 'fsck', '--full', '--no-dangling').catch((error) => String(error))
  const files = new Map<string, string>()
  for (const branch of ['main', 'pushed']) {
    const tree = await git(repository, 'ls-tree', '-r', branch)
    for (const [, id = '', name = ''] of tree.matchAll(/^\d+ blob (\w+)\t(.*)$/gm)) files.set(name, id)
  }
  const names = load.writers
    .filter(({ kind }) => kind.startsWith('commits') || kind === 'pushes')
    .flatMap(({ ledger }) => ledger.acknowledgedEntries().map(([name]) => name))
  const wrong = names.filter((name) => files.get(name) !== blobId(`content of ${name}`))
  return [
    ...(fsck === '' ? [] : [`git fsck: ${fsck}`]),
    ...wrong.map((name) => `the file ${name} is not as it was written`),
  ]
}

/** Returns acknowledged changes for which no webhook arrived. */
function untold({ load }: Scene): string[] {
  const { told } = load.receiver
  const subjects = load.writers.flatMap(({ kind, ledger }) => {
    const entries = ledger.acknowledgedEntries()
    if (kind.startsWith('commits') || kind === 'pushes') return entries.map(([, id]) => `commit ${id}`)
    if (kind === 'comments') return entries.map(([note]) => `comment ${note}`)
    if (kind === 'statuses') return entries.map(([name, state]) => `status ${name} ${state}`)
    return []
  })
  const inError = [...load.traffic.finals].filter(([, final]) => final === 'Error null')
  return [...subjects, ...inError.map(([id]) => `saga.error ${id}`)]
    .filter((subject) => !told.has(subject))
    .map((subject) => `no webhook told of ${subject}`)
}

interface QueueMetrics {
  queues: Record<string, { backlog: number }>
}

/** Returns jobs that wait although workers are idle. */
async function stuckJobs({ load }: Scene): Promise<string[]> {
  const api = load.api('jobqueue-metrics')
  const { queues } = await api.json<QueueMetrics>('sidekiq/queue_metrics')
  const { processes } = await api.json<{ processes: object[] }>('sidekiq/process_metrics')
  return [
    ...Object.entries(queues)
      .filter(([, { backlog }]) => backlog > 0)
      .map(([name, { backlog }]) => `${backlog} jobs wait in ${name}`),
    ...(processes.length === 2 ? [] : [`${processes.length} workers are shown in place of 2`]),
  ]
}
