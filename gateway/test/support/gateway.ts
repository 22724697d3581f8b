import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { chmod, copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { findNginx } from '@switchyard/dev-env'
import { findFreePort, waitFor } from '@switchyard/testing'

/** The upstream groups of nginx.conf. */
export const upstreamNames = [
  'git-api',
  'saga-reporter',
  'admin-broadcast',
  'jobqueue-metrics',
  'worker',
  'console',
  'saga-reporter-grpc',
] as const

export type UpstreamName = (typeof upstreamNames)[number]

export interface Gateway {
  /** `http://127.0.0.1:…` */
  url: string
  httpPort: number
  /** `127.0.0.1:…`, HTTP/2 without TLS */
  grpcAddress: string
  /** What it wrote so far, access log and errors. */
  log(): Promise<string>
  stop(): Promise<void>
}

const gatewayFolder = resolve(import.meta.dirname, '../..')
const toolsFolder = resolve(
  gatewayFolder,
  '..',
  process.env.SWITCHYARD_TOOLS ?? join(process.env.SWITCHYARD_DATA ?? '.switchyard', 'tools'),
)

/**
 * A real nginx on the shipped nginx.conf, in front of services on loopback ports. Upstreams that are not given
 * are down.
 */
export async function startGateway(ports: Partial<Record<UpstreamName, number>>): Promise<Gateway> {
  const program = await findNginx(toolsFolder)
  const folder = await mkdtemp(join(tmpdir(), 'switchyard-gateway-'))
  // Under root the workers run as another user, who must reach the folder.
  await chmod(folder, 0o755)
  const httpPort = await findFreePort()
  const grpcPort = await findFreePort()
  const downPort = await findFreePort()
  await copyFile(join(gatewayFolder, 'nginx.conf'), join(folder, 'nginx.conf'))
  await writeFile(join(folder, 'listen-http.conf'), `listen 127.0.0.1:${httpPort};\n`)
  await writeFile(join(folder, 'listen-grpc.conf'), `listen 127.0.0.1:${grpcPort} http2;\n`)
  const groups = upstreamNames.map(
    (name) => `upstream ${name} { server 127.0.0.1:${ports[name] ?? downPort}; keepalive 16; }\n`,
  )
  await writeFile(join(folder, 'upstreams.conf'), groups.join(''))

  // A file, because nginx opens /dev/stdout by name, which a socket to this process does not allow.
  const logFile = join(folder, 'log')
  const logHandle = openSync(logFile, 'a')
  const child = spawn(program, ['-p', `${folder}/`, '-c', join(folder, 'nginx.conf'), '-e', 'stderr'], {
    stdio: ['ignore', logHandle, logHandle],
  })
  closeSync(logHandle)
  const log = () => readFile(logFile, 'utf8')
  const exited = once(child, 'exit')
  const url = `http://127.0.0.1:${httpPort}`
  await waitFor(
    async () => child.exitCode !== null || (await fetch(`${url}/-/gateway/liveness`)).status === 200,
    { what: 'nginx to answer' },
  )
  if (child.exitCode !== null) throw new Error(`nginx did not start: ${await log()}`)

  return {
    url,
    httpPort,
    grpcAddress: `127.0.0.1:${grpcPort}`,
    log,
    async stop() {
      child.kill('SIGTERM')
      await exited
      await rm(folder, { recursive: true, force: true })
    },
  }
}
