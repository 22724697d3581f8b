import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { getNginx, toolsFolder } from '@switchyard/local-servers'
import { getFreePort, waitFor } from '@switchyard/testing'

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
  /**
   * Returns everything that nginx wrote, access log and errors, once it contains a given text, because nginx
   * logs a request after its answer.
   */
  logOnceItHas(text: string): Promise<string>
  /** Id of the nginx process that handles signals. */
  pid: number
  stop(): Promise<void>
}

/** The listen files of the gateway, and the nginx that runs them. */
export interface Listening {
  program: string
  /** Both files as shipped; {@link atPort} changes them to loopback. */
  http: string
  grpc: string
  /** Further files beside them, by name. */
  files?: Record<string, string>
  /** The file with the addresses of the services. Unset: the given ports. */
  upstreams?: string
}

export const gatewayFolder = resolve(import.meta.dirname, '../..')
export const gatewayTools = toolsFolder(resolve(gatewayFolder, '..'))

/**
 * Starts a real nginx on the shipped nginx.conf, in front of services on loopback ports, one or several of
 * each. Upstreams that are not given are down.
 *
 * @param own ports of the gateway; unset: free ones
 * @param trustedProxies TRUSTED_PROXIES
 */
export async function startGateway(
  ports: Partial<Record<UpstreamName, number | number[]>>,
  listening?: Listening,
  own?: { httpPort: number; grpcPort: number },
  trustedProxies = '',
): Promise<Gateway> {
  const program = listening?.program ?? (await getNginx(gatewayTools))
  const folder = await mkdtemp(join(tmpdir(), 'switchyard-gateway-'))
  // Under root the workers run as another user, who must reach the folder.
  await chmod(folder, 0o755)
  const httpPort = own?.httpPort ?? (await getFreePort())
  const grpcPort = own?.grpcPort ?? (await getFreePort())
  const downPort = await getFreePort()
  const configuration = await readFile(join(gatewayFolder, 'nginx.conf'), 'utf8')
  await writeFile(join(folder, 'nginx.conf'), configuration.replace('/run/gateway/', `${folder}/`))
  const http = listening ? atPort(listening.http, httpPort) : `listen 127.0.0.1:${httpPort};\n`
  const grpc = listening ? atPort(listening.grpc, grpcPort) : `listen 127.0.0.1:${grpcPort} http2;\n`
  await writeFile(join(folder, 'listen-http.conf'), http)
  await writeFile(join(folder, 'listen-grpc.conf'), grpc)
  const groups = upstreamNames.map((name) => {
    const servers = [ports[name] ?? downPort].flat().map((port) => `server 127.0.0.1:${port} max_fails=0;`)
    return `upstream ${name} { zone ${name} 256k; ${servers.join(' ')} keepalive 16; }\n`
  })
  await writeFile(join(folder, 'upstreams.conf'), listening?.upstreams ?? groups.join(''))
  for (const [name, text] of Object.entries(listening?.files ?? {})) await writeFile(join(folder, name), text)

  // A file, because nginx opens /dev/stdout by name, which a socket to this process does not allow.
  const logFile = join(folder, 'log')
  const logHandle = openSync(logFile, 'a')
  const child = spawn('sh', [join(gatewayFolder, 'start.sh'), folder, folder], {
    stdio: ['ignore', logHandle, logHandle],
    env: { ...process.env, NGINX: program, TRUSTED_PROXIES: trustedProxies },
  })
  closeSync(logHandle)
  const log = () => readFile(logFile, 'utf8')
  const exited = once(child, 'exit')
  const url = `http://127.0.0.1:${httpPort}`
  await waitFor(async () => child.exitCode !== null || (await listens(httpPort)), { what: 'nginx to answer' })
  if (child.exitCode !== null) throw new Error(`nginx did not start: ${await log()}`)

  return {
    url,
    httpPort,
    grpcAddress: `127.0.0.1:${grpcPort}`,
    pid: child.pid ?? 0,
    logOnceItHas: (text) =>
      waitFor(
        async () => {
          const written = await log()
          return written.includes(text) && written
        },
        { what: `the log of nginx to have ${text}` },
      ),
    async stop() {
      child.kill('SIGTERM')
      await exited
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/**
 * Returns a file of listen directives with its port on loopback at a free one, without those that listen on
 * loopback already.
 */
const atPort = (file: string, port: number): string =>
  file.replace(/^listen 127\.0\.0\.1:.*\n/m, '').replace(/^listen \d+/m, `listen 127.0.0.1:${port}`)

/** Returns whether a port of loopback accepts a connection. */
async function listens(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return true
  } finally {
    socket.destroy()
  }
}
