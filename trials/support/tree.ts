import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { type Command, dieWithParent } from '../../packages/local-servers/src/process/death-signal.js'
import { getFreePort } from '../../packages/local-servers/src/process/free-port.js'

const root = resolve(import.meta.dirname, '../..')
const readyTimeoutMs = 240_000

export interface Start {
  process: ChildProcess
  /** Returns the output so far, of both streams. */
  output(): string
  /** Resolves when it has reported that it is ready; rejects with the output when it ends before. */
  ready: Promise<void>
  exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>
}

const startScript: Command = { command: 'node', args: ['ops/start.mjs'] }

/**
 * Runs the command of `npm start` in `checkout`, or `given`, in a separate process group and with `env` added
 * to the environment. It may fail; the caller checks the result.
 */
export function spawnStart(
  env: Record<string, string>,
  given: Command = startScript,
  checkout = root,
): Start {
  // The servers of the integration tests are not for this tree.
  const { DATABASE_URL: _database, REDIS_URL: _redis, ...inherited } = process.env
  const { command, args } = dieWithParent(given)
  const child = spawn(command, args, {
    cwd: checkout,
    env: { ...inherited, NODE_ENV: 'test', NO_COLOR: '1', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  let text = ''
  const exited = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((settle) => {
    child.once('close', (code, signal) => settle({ code, signal }))
  })
  const ready = new Promise<void>((settle, reject) => {
    const timer = setTimeout(() => reject(new Error(`not ready in time:\n${text}`)), readyTimeoutMs)
    void exited.then(() => reject(new Error(`ended before it was ready:\n${text}`)))
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk
        if (!text.includes('Switchyard is ready')) return
        clearTimeout(timer)
        settle()
      })
    }
    void exited.then(() => clearTimeout(timer))
  })
  ready.catch(() => {})
  return { process: child, output: () => text, ready, exited }
}

export interface Tree {
  /** Port of the gateway. */
  httpPort: number
  grpcPort: number
  /** `http://127.0.0.1:…` */
  url: string
  /** `127.0.0.1:…` */
  grpcAddress: string
  dataDir: string
  /** Token of the administrator `root`. */
  rootToken: string
  /** Id of the process that runs the tree. */
  pid: number
  output(): string
  /** Stops it like Ctrl-C; the data is deleted, unless the folder was given. */
  stop(): Promise<void>
}

/** Address under which an installation reaches this machine. */
export const ownAddress = process.env.SWITCHYARD_E2E_OWN_ADDRESS ?? '127.0.0.1'

/** Whether the tests run against an existing installation, whose processes they must not start and end. */
export const isTreeGiven = process.env.SWITCHYARD_E2E_URL !== undefined

/**
 * Starts everything on free ports, with data in a temporary folder or in `dataDir`, and waits until it is
 * ready. `root` is the folder of another checkout whose services run. If SWITCHYARD_E2E_URL is set, an empty
 * installation that runs already is used instead, with SWITCHYARD_E2E_GRPC_ADDRESS as the address of its gRPC
 * port and SWITCHYARD_E2E_ROOT_TOKEN as the administrator's token.
 */
export async function startTree(
  options: { dataDir?: string; env?: Record<string, string>; root?: string } = {},
): Promise<Tree> {
  if (isTreeGiven) return givenTree()
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), 'switchyard-e2e-'))
  const [httpPort, grpcPort] = [await getFreePort(), await getFreePort()]
  const ports = { PORT: String(httpPort), GRPC_PORT: String(grpcPort) }
  const env = { ...ports, SWITCHYARD_DATA: dataDir, ...options.env }
  const started = spawnStart(env, startScript, options.root)
  await started.ready
  return {
    httpPort,
    grpcPort,
    url: `http://127.0.0.1:${httpPort}`,
    grpcAddress: `127.0.0.1:${grpcPort}`,
    dataDir,
    rootToken: readFileSync(join(dataDir, 'root-token'), 'utf8').trim(),
    pid: started.process.pid ?? 0,
    output: started.output,
    async stop() {
      started.process.kill('SIGINT')
      await started.exited
      if (!options.dataDir) rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

function givenTree(): Tree {
  const { SWITCHYARD_E2E_URL: url = '', SWITCHYARD_E2E_GRPC_ADDRESS: grpcAddress = '' } = process.env
  const { SWITCHYARD_E2E_ROOT_TOKEN: rootToken = '' } = process.env
  const portOf = (address: string) => Number(address.split(':').at(-1))
  const dataDir = mkdtempSync(join(tmpdir(), 'switchyard-e2e-'))
  writeFileSync(join(dataDir, 'root-token'), rootToken, { mode: 0o600 })
  return {
    httpPort: portOf(url),
    grpcPort: portOf(grpcAddress),
    url,
    grpcAddress,
    dataDir,
    rootToken,
    pid: 0,
    output: () => '',
    stop: async () => rmSync(dataDir, { recursive: true, force: true }),
  }
}
