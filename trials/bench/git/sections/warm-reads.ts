import { median } from '../../../support/statistics.js'
import { createClient, read } from '../load.js'
import { type Context, pathTo, type Sample, say } from '../samples.js'

const rounds = Number(process.env.ROUNDS ?? 3)
const seconds = 2
/** Warm-up, because the code of a new process is several times slower until it is compiled. */
const warmUpSeconds = 6

/**
 * Measures reads with cached answers, beside bare express with the same bytes and the same authentication.
 */
export async function warmReads({ service, samples }: Context): Promise<void> {
  const sample = samples.at(-1) as Sample
  const paths = [pathTo(sample, ''), pathTo(sample, `/${sample.tip}`), pathTo(sample, `/${sample.tip}/diff`)]
  const ours = await service.gitApi()
  const client = createClient(ours.ports, service.token)
  const answers: Record<string, string> = {}
  for (const path of paths) answers[path] = (await client.get(path)).text
  client.close()
  const bare = await service.bare(answers)
  say('warm, 4 connections, a second', 'bytes', 'ours', 'p50 ms', 'p99 ms', 'bare', '÷')
  for (const path of paths) {
    const load = (ports: number[], length = seconds) =>
      read({ ports, paths: [path], token: service.token, connections: 4, seconds: length })
    await load(ours.ports, warmUpSeconds)
    await load(bare.ports, warmUpSeconds)
    const loads = []
    for (let round = 0; round < rounds; round += 1) {
      loads.push({ ours: await load(ours.ports), bare: await load(bare.ports) })
    }
    say(
      path.replace(/.*commits/, '…').slice(0, 30),
      Buffer.byteLength(answers[path] ?? ''),
      median(loads.map((both) => both.ours.perSecond)),
      median(loads.map((both) => both.ours.p50Ms)),
      median(loads.map((both) => both.ours.p99Ms)),
      median(loads.map((both) => both.bare.perSecond)),
      median(loads.map((both) => both.ours.perSecond / both.bare.perSecond)),
    )
  }
  await ours.stop()
  await bare.stop()
}
