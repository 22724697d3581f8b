import { engine, libgit2 } from '../baselines.js'
import { read } from '../load.js'
import { type Context, type Kind, median, pathsOf, reads, type Sample, say } from '../samples.js'
import type { Processes } from '../service.js'

const rounds = Number(process.env.ROUNDS ?? 3)
const seconds = 2

/**
 * Reads whose answers are made anew each time: nothing that git said is kept. How many commits lead to a tip
 * is still counted once for each, as it is in service.
 */
export async function coldReads({ service, samples, withLibgit2 }: Context): Promise<void> {
  const processes = await service.gitApi(0)
  say('cold, 4 connections, a second', 'ours', 'p50 ms', 'p99 ms', 'libgit2', '÷ libgit2', 'diff-tree', '÷')
  const perSecond = new Map<Kind, number[]>()
  for (const sample of samples) {
    for (const kind of reads) {
      const ours = await compare(sample, kind, { service, processes, withLibgit2 })
      perSecond.set(kind, [...(perSecond.get(kind) ?? []), ours])
    }
  }
  for (const [kind, [small = 0, large = 0]] of perSecond) say(`${kind}: small ÷ large`, small / large)
  await processes.stop()
}

interface Sides {
  service: Context['service']
  processes: Processes
  withLibgit2: boolean
}

async function compare(sample: Sample, kind: Kind, { service, processes, withLibgit2 }: Sides) {
  const { ports } = processes
  const paths = pathsOf(sample, kind)
  const load = () => read({ ports, paths, token: service.token, connections: 4, seconds })
  const { path } = sample.project
  await load()
  const figures = { ours: [] as number[], p50: [] as number[], p99: [] as number[], toLib: [] as number[] }
  const others = { lib: [] as number[], engine: [] as number[], toEngine: [] as number[] }
  for (let round = 0; round < rounds; round += 1) {
    const { perSecond, p50Ms, p99Ms } = await load()
    figures.ours.push(perSecond)
    figures.p50.push(p50Ms)
    figures.p99.push(p99Ms)
    if (withLibgit2) {
      const lib = await libgit2(path, kind, sample.ids, seconds)
      others.lib.push(lib)
      figures.toLib.push(perSecond / lib)
    }
    if (kind !== 'diff') continue
    const bare = await engine(path, sample.ids, seconds)
    others.engine.push(bare)
    others.toEngine.push(perSecond / bare)
  }
  const ours = median(figures.ours)
  const shown = [ours, median(figures.p50), median(figures.p99), median(others.lib), median(figures.toLib)]
  const bare = kind === 'diff' ? [median(others.engine), median(others.toEngine)] : []
  say(`${kind}, ${sample.project.name}`, ...shown, ...bare)
  return ours
}
