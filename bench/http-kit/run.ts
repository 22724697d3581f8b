import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { openSync } from 'node:fs'
import { devNull } from 'node:os'
import { fileURLToPath } from 'node:url'
import autocannon from 'autocannon'

const rounds = 5
const secondsPerRound = 4

type Side = 'kit' | 'bare'

async function start(side: Side): Promise<{ child: ChildProcess; port: number }> {
  const child = fork(fileURLToPath(new URL('./servers.ts', import.meta.url)), [side], {
    stdio: ['ignore', openSync(devNull, 'w'), 'inherit', 'ipc'],
  })
  const [port] = await once(child, 'message')
  return { child, port: Number(port) }
}

async function load(port: number): Promise<number> {
  const result = await autocannon({
    url: `http://127.0.0.1:${port}/api/v4/projects/7/repository/commits/main`,
    headers: { 'PRIVATE-TOKEN': 'good' },
    connections: 8,
    duration: secondsPerRound,
  })
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${result.non2xx} wrong answers, ${result.errors} errors`)
  return result.requests.average
}

const median = (values: number[]) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0

const sides = { kit: await start('kit'), bare: await start('bare') }
const figures: Record<Side, number[]> = { kit: [], bare: [] }
await load(sides.kit.port)
await load(sides.bare.port)
for (let round = 0; round < rounds; round += 1) {
  for (const side of ['kit', 'bare'] as const) figures[side].push(await load(sides[side].port))
}
for (const { child } of Object.values(sides)) child.kill()

const ratios = figures.kit.map((value, round) => value / (figures.bare[round] ?? Number.NaN))
console.log(`kit   ${Math.round(median(figures.kit))} requests/s`)
console.log(`bare  ${Math.round(median(figures.bare))} requests/s`)
console.log(`ratio ${median(ratios).toFixed(2)} (${ratios.map((ratio) => ratio.toFixed(2)).join(', ')})`)
