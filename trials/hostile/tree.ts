import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { dieWithParent } from '../../packages/dev-env/src/process/death-signal.js'
import { findFreePort } from '../../packages/dev-env/src/process/free-port.js'

const ownRoot = resolve(import.meta.dirname, '../..')
const readyTimeoutMs = 240_000

export interface Tree {
  /** `http://127.0.0.1:…` */
  url: string
  httpPort: number
  /** `127.0.0.1:…` */
  grpcAddress: string
  rootToken: string
  dataDir: string
  /** Memory of a service's process (resident set), and of those below it without mapped files, in bytes. */
  memoryOf(service: Service): number
  stop(): Promise<void>
}

export type Service = 'git-api' | 'saga-reporter'

/**
 * What `npm start` runs, on free ports and with new data.
 *
 * @param root folder of the checkout whose services run, built. Unset: this one
 */
export async function startTree(given: Record<string, string> = {}, root = ownRoot): Promise<Tree> {
  const dataDir = mkdtempSync(join(tmpdir(), 'switchyard-hostile-'))
  const [httpPort, grpcPort] = [await findFreePort(), await findFreePort()]
  const { DATABASE_URL: _database, REDIS_URL: _redis, ...inherited } = process.env
  const env = {
    ...inherited,
    PORT: String(httpPort),
    GRPC_PORT: String(grpcPort),
    SWITCHYARD_DATA: dataDir,
    // Reporters need a token, as in production.
    SAGA_AUTH: 'token',
    ...given,
  }
  const { command, args } = dieWithParent({ command: process.execPath, args: ['ops/start.mjs'] })
  const child = spawn(command, args, { cwd: root, env, stdio: 'ignore' })
  const exited = once(child, 'exit')
  const stop = async () => {
    child.kill('SIGINT')
    await exited
    rmSync(dataDir, { recursive: true, force: true })
  }
  const url = `http://127.0.0.1:${httpPort}`
  const tokenFile = join(dataDir, 'root-token')
  try {
    await waitUntilReady(url, tokenFile, () => child.exitCode)
  } catch (error) {
    await stop()
    throw error
  }
  const pids = servicePids()
  return {
    url,
    httpPort,
    grpcAddress: `127.0.0.1:${grpcPort}`,
    rootToken: readFileSync(tokenFile, 'utf8').trim(),
    dataDir,
    memoryOf: (service) => bytesOf(pids(child.pid ?? 0, service)),
    stop,
  }
}

async function waitUntilReady(url: string, tokenFile: string, exitCode: () => number | null) {
  const paths = ['git-api', 'saga-reporter'].map((name) => `${url}/-/${name}/readiness`)
  for (const deadline = Date.now() + readyTimeoutMs; Date.now() < deadline; await wait(500)) {
    if (exitCode() !== null) throw new Error('npm start ended: is everything built?')
    const answers = await Promise.all(paths.map((path) => fetch(path).catch(() => null)))
    if (answers.every((answer) => answer?.ok) && existsSync(tokenFile)) return
  }
  throw new Error('not ready in time')
}

/** Finds the process of a service below another process, and remembers it while it lives. */
function servicePids() {
  const known = new Map<Service, number>()
  return (ancestor: number, service: Service): number => {
    const pid = known.get(service)
    if (pid !== undefined && existsSync(`/proc/${pid}`)) return pid
    const processes = listProcesses()
    const isBelow = (child: number): boolean => {
      const parent = Number(processes.find(([, id]) => Number(id) === child)?.[2] ?? 0)
      return parent === ancestor || (parent > 1 && isBelow(parent))
    }
    const main = join('services', service, 'dist')
    const found = processes.find(([, id, , command]) => command?.includes(main) && isBelow(Number(id)))
    if (!found) throw new Error(`${service} does not run`)
    known.set(service, Number(found[1]))
    return Number(found[1])
  }
}

/** Process id, that of its parent, and its command line, of every process. */
const listProcesses = () =>
  execFileSync('ps', ['-eo', 'pid=,ppid=,args='], { encoding: 'utf8' })
    .split('\n')
    .map((line) => /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line))
    .filter((match) => match !== null)

function bytesOf(service: number): number {
  const childrenOf = new Map<number, number[]>()
  for (const [, pid, parent] of listProcesses())
    childrenOf.set(Number(parent), [...(childrenOf.get(Number(parent)) ?? []), Number(pid)])
  const below = [service]
  for (const pid of below) below.push(...(childrenOf.get(pid) ?? []))
  const [own = 0, ...others] = below
  return others.reduce((sum, pid) => sum + memoryField(pid, 'RssAnon'), memoryField(own, 'VmRSS'))
}

/** A field of the status of a process, in bytes; 0 when the process has ended. */
function memoryField(pid: number, field: string): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    return Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1] ?? 0) * 1024
  } catch {
    return 0
  }
}
