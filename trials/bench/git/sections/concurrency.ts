import { gitText } from '../baselines.js'
import { createClient, read } from '../load.js'
import { type Context, type Kind, pathsOf, pathTo, type Sample, say } from '../samples.js'

const seconds = 2
/** Warm-up, because the code of a new process is several times slower until it is compiled. */
const warmUpSeconds = 6
const headings = ['a second', 'p50 ms', 'p99 ms', 'loop p99', 'loop max', 'RSS MiB']

/**
 * Measures cold reads of the large repository at 1, 8 and 64 connections, with the resource use of the
 * processes.
 */
export async function sweep({ service, samples }: Context, kinds: readonly Kind[]): Promise<void> {
  const sample = samples.at(-1) as Sample
  const processes = await service.gitApi(0)
  say('cold, large, by connections', ...headings)
  for (const kind of kinds) {
    for (const connections of [1, 8, 64]) {
      await processes.figures()
      const order = { ports: processes.ports, paths: pathsOf(sample, kind), token: service.token }
      const { perSecond, p50Ms, p99Ms } = await read({ ...order, connections, seconds })
      const figures = await processes.figures()
      const most = (pick: (one: (typeof figures)[number]) => number) => Math.max(...figures.map(pick))
      const own = [most((one) => one.delayP99Ms), most((one) => one.delayMaxMs)]
      say(
        `${kind}, ${connections}`,
        perSecond,
        p50Ms,
        p99Ms,
        ...own,
        most((one) => one.residentMiB),
      )
    }
  }
  await processes.stop()
}

/** Measures small reads, alone and while another client requests large diffs. */
export async function mixedReads({ service, samples }: Context): Promise<void> {
  const sample = samples.at(-1) as Sample
  const processes = await service.gitApi(0)
  const client = createClient(processes.ports, service.token)
  const id = (await gitText(sample.project.path, 'rev-list', ['--max-parents=0'], ['main'])).trim()
  const bytes = Buffer.byteLength((await client.get(pathTo(sample, `/${id}/diff`))).text)
  const order = { ports: processes.ports, token: service.token, connections: 2, seconds: 4 }
  await read({ ...order, seconds: warmUpSeconds, paths: pathsOf(sample, 'stats') })
  say('small reads', 'a second', 'p50 ms', 'p99 ms', 'loop max')
  for (const beside of ['alone', `beside diffs of ${(bytes / 2 ** 20).toFixed(1)} MiB`]) {
    await processes.figures()
    let over = false
    let diffs = 0
    const diffing = (async () => {
      for (; !over && beside !== 'alone'; diffs += 1) await client.get(pathTo(sample, `/${id}/diff`))
    })()
    const { perSecond, p50Ms, p99Ms } = await read({ ...order, paths: pathsOf(sample, 'stats') })
    over = true
    await diffing
    const loop = Math.max(...(await processes.figures()).map((one) => one.delayMaxMs))
    say(beside, perSecond, p50Ms, p99Ms, loop, `${diffs} diffs`)
  }
  client.close()
  await processes.stop()
}
