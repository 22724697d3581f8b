import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { openSync } from 'node:fs'
import { devNull } from 'node:os'
import { fileURLToPath } from 'node:url'
import autocannon from 'autocannon'
import { startRedis } from '../../support/redis.js'
import { median } from '../../support/statistics.js'

const rounds = 5
const secondsPerRound = 4

const names = ['kit', 'counting', 'bare'] as const
type Side = (typeof names)[number]

async function start(side: Side): Promise<{ child: ChildProcess; port: number }> {
  const child = fork(fileURLToPath(new URL('./servers.ts', import.meta.url)), [side], {
    stdio: ['ignore', openSync(devNull, 'w'), 'inherit', 'ipc'],
    env: { ...process.env, REDIS_URL: `unix://${redis.path}` },
  })
  const [port] = await once(child, 'message')
  return { child, port: Number(port) }
}

async function load(port: number): Promise<{ perSecond: number; p99Ms: number }> {
  const result = await autocannon({
    url: `http://127.0.0.1:${port}/api/v4/projects/7/repository/commits/main`,
    headers: { 'PRIVATE-TOKEN': 'good' },
    connections: 8,
    duration: secondsPerRound,
  })
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${result.non2xx} wrong answers, ${result.errors} errors`)
  return { perSecond: result.requests.average, p99Ms: result.latency.p99 }
}

const redis = await startRedis()
const sides = new Map<Side, Awaited<ReturnType<typeof start>>>()
for (const side of names) sides.set(side, await start(side))
const figures: Record<Side, number[]> = {
  kit: [],
  counting: [],
  bare: [],
}
const p99Ms: Record<Side, number[]> = { kit: [], counting: [], bare: [] }
for (const { port } of sides.values()) await load(port)
for (let round = 0; round < rounds; round += 1) {
  for (const [side, { port }] of sides) {
    const measured = await load(port)
    figures[side].push(measured.perSecond)
    p99Ms[side].push(measured.p99Ms)
  }
}
for (const { child } of sides.values()) child.kill()
await redis.stop()

const beside = (side: Side) => {
  const ratios = figures[side].map((value, round) => value / (figures.bare[round] ?? Number.NaN))
  return `÷ bare ${median(ratios).toFixed(2)} (${ratios.map((ratio) => ratio.toFixed(2)).join(', ')})`
}
for (const side of names) {
  const perSecond = Math.round(median(figures[side]))
  const p99 = `p99 ${median(p99Ms[side])} ms`
  console.log(
    `${side.padEnd(14)} ${perSecond} requests/s, ${p99}${side === 'bare' ? '' : `, ${beside(side)}`}`,
  )
}
