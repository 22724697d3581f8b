import { median } from '../../../support/statistics.js'
import { engine, libgit2 } from '../baselines.js'
import { read } from '../load.js'
import { type Context, type Kind, pathsOf, reads, type Sample, say } from '../samples.js'
import type { Processes } from '../service.js'

const rounds = Number(process.env.ROUNDS ?? 3)
const seconds = 2
/** Warm-up, because the code of a new process is several times slower until it is compiled. */
const warmUpSeconds = 6

/**
 * Measures reads without cached answers: only the number of commits in the history of a tip is cached. Lists
 * are also read as in production, with cached commits, as libgit2 caches objects.
 */
export async function coldReads(context: Context): Promise<void> {
  say(
    'cold, 4 connections, a second',
    'ours',
    'p50 ms',
    'p99 ms',
    'lib, kept',
    '÷',
    'lib, anew',
    '÷',
    'diff-tree',
    '÷',
  )
  await readAll(context, 'anew', reads)
  await readAll(context, 'kept', ['list'])
}

async function readAll(context: Context, objects: 'kept' | 'anew', kinds: Kind[]): Promise<void> {
  const { service, samples } = context
  const processes = await (objects === 'anew' ? service.gitApi(0) : service.gitApi())
  for (const sample of samples) {
    for (const kind of kinds) await compare(sample, kind, objects, { ...context, processes })
  }
  await processes.stop()
}

interface Sides extends Context {
  processes: Processes
}

async function compare(sample: Sample, kind: Kind, objects: 'kept' | 'anew', sides: Sides): Promise<void> {
  const { service, processes, withLibgit2 } = sides
  const { ports } = processes
  const paths = pathsOf(sample, kind)
  const load = (length: number) =>
    read({ ports, paths, token: service.token, connections: 4, seconds: length })
  const { path } = sample.project
  await load(warmUpSeconds)
  const loads = []
  const others = { kept: [] as number[], anew: [] as number[], engine: [] as number[] }
  for (let round = 0; round < rounds; round += 1) {
    loads.push(await load(seconds))
    for (const how of withLibgit2 ? (['kept', 'anew'] as const) : [])
      others[how].push(await libgit2(path, kind, sample.ids, seconds, how))
    if (kind === 'diff') others.engine.push(await engine(path, sample.ids, seconds))
  }
  const ours = loads.map(({ perSecond }) => perSecond)
  const against = (other: number[]) =>
    other.length === 0 ? [] : [median(other), median(other.map((rate, index) => (ours[index] ?? 0) / rate))]
  say(
    `${kind}, objects ${objects}, ${sample.project.name}`,
    median(ours),
    median(loads.map(({ p50Ms }) => p50Ms)),
    median(loads.map(({ p99Ms }) => p99Ms)),
    ...[others.kept, others.anew, others.engine].flatMap(against),
  )
}
