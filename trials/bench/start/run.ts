import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { getFreePort } from '@switchyard/local-servers/free-port'
import { shareOfMemory } from '../../support/memory.js'
import { listDescendants } from '../../support/processes.js'
import { type Start, spawnStart } from '../../support/tree.js'
import { cpuMsBelow } from '../git/cpu-time.js'
import { usageOf } from '../saga/process-usage.js'

/**
 * Measures `npm start`: in a clone of the last commit with empty caches, again in the same folder, and after
 * some time. `--here` skips the clone: it starts the build of this checkout.
 */
const { values: options } = parseArgs({
  options: {
    here: { type: 'boolean', default: false },
    /** Number of starts after the first. */
    again: { type: 'string', default: '3' },
    /** Idle seconds before memory and CPU time are measured. */
    rest: { type: 'string', default: '60' },
  },
})
const measuredSeconds = 30
const root = resolve(import.meta.dirname, '../../..')
const folder = mkdtempSync(join(tmpdir(), 'switchyard-start-'))
const checkout = options.here ? root : join(folder, 'clone')
const caches = {
  XDG_CACHE_HOME: join(folder, 'cache'),
  XDG_DATA_HOME: join(folder, 'share'),
  npm_config_cache: join(folder, 'npm'),
}

async function start(name: string): Promise<Start> {
  const [PORT, GRPC_PORT] = [String(await getFreePort()), String(await getFreePort())]
  const env = { PORT, GRPC_PORT, SWITCHYARD_DATA: join(folder, 'data'), ...(options.here ? {} : caches) }
  const [startedMs, cpuMs] = [performance.now(), cpuMsBelow(process.pid)]
  const started = spawnStart(env, { command: 'npm', args: ['start'] }, checkout)
  const bundling = watchBundler(started.process.pid ?? 0)
  await started.ready
  const bundlingSeconds = bundling.end()
  const seconds = (performance.now() - startedMs) / 1000
  const cpuSeconds = (cpuMsBelow(process.pid) - cpuMs) / 1000 + bundlingSeconds
  console.log(
    `${name}: ${seconds.toFixed(1)} s, ${cpuSeconds.toFixed(1)} s of CPU time, of which esbuild ${bundlingSeconds.toFixed(1)}`,
  )
  return started
}

/** Polls the CPU time of esbuild while it runs, because its parent process does not wait for its end. */
function watchBundler(pid: number) {
  const seen = new Map<number, number>()
  const timer = setInterval(() => {
    for (const each of listDescendants(pid))
      if (/esbuild .*--service/.test(each.command)) seen.set(each.pid, cpuSecondsOf(each.pid))
  }, 500)
  return {
    end() {
      clearInterval(timer)
      return [...seen.values()].reduce((sum, each) => sum + each, 0)
    },
  }
}

async function stop({ process: child, exited }: Start): Promise<void> {
  child.kill('SIGINT')
  await exited
}

/**
 * Returns the part of the installation to which a process belongs: the service that has started it, the
 * server, or the supervisor.
 */
function partOf(command: string): string {
  const service = /services\/([\w-]+)\/dist/.exec(command)?.[1]
  if (service) return service
  if (/postgres/.test(command)) return 'PostgreSQL'
  if (/redis-server/.test(command)) return 'Redis'
  return 'launcher'
}

/** Returns CPU seconds; 0 when the process has ended. */
function cpuSecondsOf(pid: number): number {
  try {
    return usageOf(pid).cpuSeconds
  } catch {
    return 0
  }
}

interface Part {
  bytes: number
  cpuSeconds: number
}

/**
 * Returns memory (PSS) and CPU time of each part of the installation. The children of a service count as part
 * of it.
 */
function partsBelow(pid: number): Map<string, Part> {
  const parts = new Map<string, Part>()
  const nameOf = new Map<number, string>()
  for (const each of [{ pid, parentPid: 0, command: '' }, ...listDescendants(pid)]) {
    const above = nameOf.get(each.parentPid) ?? 'launcher'
    const name = above === 'launcher' ? partOf(each.command) : above
    nameOf.set(each.pid, name)
    const { bytes, cpuSeconds } = parts.get(name) ?? { bytes: 0, cpuSeconds: 0 }
    parts.set(name, {
      bytes: bytes + shareOfMemory(each.pid),
      cpuSeconds: cpuSeconds + cpuSecondsOf(each.pid),
    })
  }
  return parts
}

async function measureRest({ process: child }: Start): Promise<void> {
  await delay(Number(options.rest) * 1000)
  const before = partsBelow(child.pid ?? 0)
  await delay(measuredSeconds * 1000)
  const after = partsBelow(child.pid ?? 0)
  const rows = [...after].map(([name, { bytes, cpuSeconds }]) => ({
    name,
    mb: bytes / 1e6,
    percent: ((cpuSeconds - (before.get(name)?.cpuSeconds ?? 0)) / measuredSeconds) * 100,
  }))
  const sum = (of: (row: (typeof rows)[number]) => number) => rows.reduce((all, row) => all + of(row), 0)
  console.log(`after ${options.rest} s: memory in MB, CPU time in percent of a core`)
  for (const { name, mb, percent } of [
    ...rows,
    { name: 'all', mb: sum(({ mb }) => mb), percent: sum((row) => row.percent) },
  ])
    console.log(`${name.padEnd(18)} ${mb.toFixed(0).padStart(6)} ${percent.toFixed(2).padStart(7)}`)
}

try {
  if (!options.here) execFileSync('git', ['clone', '--quiet', root, checkout])
  const first = await start('npm start, first')
  console.log(first.output().match(/✓.*/g)?.join('\n'))
  await stop(first)
  for (let index = 0; index < Number(options.again); index += 1) await stop(await start('npm start, again'))
  const running = await start('npm start, again')
  await measureRest(running)
  await stop(running)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
