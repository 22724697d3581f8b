import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { median } from '../../../support/statistics.js'
import { cpuMsBelow } from '../cpu-time.js'
import { say } from '../samples.js'

const rounds = 3
const branches = 200

const run = promisify(execFile)

interface Cost {
  seconds: number
  cpuSeconds: number
}

/**
 * Measures a transfer. CPU time is that of all processes below this one: the client, the service and its git.
 */
async function timed(args: string[]): Promise<Cost> {
  const [startedMs, cpuMs] = [performance.now(), cpuMsBelow(process.pid)]
  await run('git', args, { env: { ...process.env, GIT_TERMINAL_PROMPT: '0' } })
  return {
    seconds: (performance.now() - startedMs) / 1000,
    cpuSeconds: (cpuMsBelow(process.pid) - cpuMs) / 1000,
  }
}

/**
 * Measures a push of two hundred branches and a clone of everything, over HTTP and with git alone on this
 * machine, in turns.
 */
export async function transfers(path: string, url: string): Promise<void> {
  const folder = mkdtempSync(join(dirname(path), 'transfers-'))
  const at = (name: string) => join(folder, name)
  try {
    await run('git', ['clone', '--quiet', '--bare', '--shared', path, at('source')])
    const pushOf = (round: number) => `refs/heads/b*:refs/heads/round-${round}-*`
    await compare(
      `push of ${branches} branches, s`,
      (round) => timed(['-C', at('source'), 'push', '--quiet', url, pushOf(round)]),
      async (round) => {
        await run('git', ['clone', '--quiet', '--bare', '--shared', path, at(`target-${round}`)])
        return timed(['-C', at('source'), 'push', '--quiet', at(`target-${round}`), pushOf(round)])
      },
    )
    await compare(
      'clone, s',
      (round) => timed(['clone', '--quiet', '--bare', url, at(`clone-${round}`)]),
      (round) => timed(['clone', '--quiet', '--bare', '--no-local', path, at(`local-${round}`)]),
    )
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

type Transfer = (round: number) => Promise<Cost>

async function compare(name: string, ours: Transfer, local: Transfer): Promise<void> {
  const found = { ours: [] as Cost[], local: [] as Cost[] }
  for (let round = 0; round < rounds; round += 1) {
    found.ours.push(await ours(round))
    found.local.push(await local(round))
  }
  const middle = (costs: Cost[], of: keyof Cost) => median(costs.map((cost) => cost[of]))
  say(
    name,
    middle(found.ours, 'seconds'),
    `CPU ${middle(found.ours, 'cpuSeconds').toFixed(2)}`,
    'git alone',
    middle(found.local, 'seconds'),
    `CPU ${middle(found.local, 'cpuSeconds').toFixed(2)}`,
  )
}
