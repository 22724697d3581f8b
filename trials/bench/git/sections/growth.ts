import { execFileSync } from 'node:child_process'
import { median } from '../../../support/statistics.js'
import { read } from '../load.js'
import { type Context, type Kind, pathsOf, reads, type Sample, say } from '../samples.js'

const rounds = Number(process.env.ROUNDS ?? 3)
const seconds = 2
const warmUpSeconds = 6
const memoryOfGit = 'core.deltaBaseCacheLimit'

/**
 * Measures whether reads cost more in a longer history, both repositories in turns. git caches 96 MB of
 * unpacked objects, which fits the small one but not the large one, so it is also measured with a git without
 * cache.
 */
export async function growth(context: Context): Promise<void> {
  const { samples } = context
  say('small ÷ large, answers made anew', 'small', 'large', '÷')
  await readInTurns(context, 'git as it is')
  for (const { project } of samples) configure(project.path, memoryOfGit, '1')
  await readInTurns(context, 'git keeps nothing')
  for (const { project } of samples) configure(project.path, '--unset', memoryOfGit)
}

const configure = (path: string, ...change: string[]) =>
  execFileSync('git', [`--git-dir=${path}`, 'config', ...change])

async function readInTurns({ service, samples }: Context, how: string): Promise<void> {
  const { ports, stop } = await service.gitApi(0)
  const perSecond = async (sample: Sample, kind: Kind, length: number) => {
    const paths = pathsOf(sample, kind)
    const load = await read({ ports, paths, token: service.token, connections: 4, seconds: length })
    return load.perSecond
  }
  for (const kind of reads) {
    const rates: number[][] = samples.map(() => [])
    for (const sample of samples) await perSecond(sample, kind, warmUpSeconds)
    for (let round = 0; round < rounds; round += 1) {
      for (const [index, sample] of samples.entries())
        rates[index]?.push(await perSecond(sample, kind, seconds))
    }
    const [small = [], large = []] = rates
    const ratios = small.map((rate, round) => rate / (large[round] ?? Number.NaN))
    say(`${kind}, ${how}`, median(small), median(large), median(ratios))
  }
  await stop()
}
