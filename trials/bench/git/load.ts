import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { median, quantile } from '../../support/statistics.js'

export interface Load {
  perSecond: number
  p50Ms: number
  p99Ms: number
}

interface ReadOrder {
  ports: number[]
  paths: string[]
  token: string
  /** Connections of all ports together; each has one request at a time. */
  connections: number
  seconds: number
}

const warmUpSeconds = 1
const processesMax = 8

/**
 * Reads one path after the other with `h2load`, evenly from all ports. Each of its processes begins at
 * another path, so that no two of up to eight connections request the same at the same time.
 */
export async function read({ ports, paths, token, connections, seconds }: ReadOrder): Promise<Load> {
  const folder = mkdtempSync(join(tmpdir(), 'switchyard-load-'))
  const processes = Math.min(connections, processesMax)
  const runs = Array.from({ length: processes }, async (_, index) => {
    const port = ports[index % ports.length]
    const urls = join(folder, `urls-${index}`)
    const log = join(folder, `log-${index}`)
    const shift = Math.floor((paths.length * index) / processes)
    const turned = [...paths.slice(shift), ...paths.slice(0, shift)]
    writeFileSync(urls, turned.map((path) => `http://127.0.0.1:${port}${path}`).join('\n'))
    const clients = Math.round(connections / processes)
    const args = ['--h1', '-t', '1', '-c', String(clients), '-i', urls, '--log-file', log]
    const times = ['-D', String(seconds), '--warm-up-time', String(warmUpSeconds)]
    const child = spawn('h2load', [...args, ...times, '-H', `PRIVATE-TOKEN: ${token}`], { stdio: 'ignore' })
    const [code] = await once(child, 'close')
    if (code !== 0) throw new Error(`h2load exited with ${code}`)
    return readFileSync(log, 'utf8')
  })
  const logs = await Promise.all(runs)
  rmSync(folder, { recursive: true, force: true })
  return summary(logs, seconds)
}

function summary(logs: string[], seconds: number): Load {
  const times: number[] = []
  for (const log of logs) {
    for (const line of log.split('\n').filter(Boolean)) {
      const [, status, microseconds] = line.split('\t')
      if (status !== '200') throw new Error(`a request was answered with status ${status}`)
      times.push(Number(microseconds) / 1000)
    }
  }
  return summaryOf(times, seconds)
}

export function summaryOf(times: number[], seconds: number): Load {
  return { perSecond: times.length / seconds, p50Ms: median(times), p99Ms: quantile(times, 0.99) }
}

export interface Answer {
  status: number
  text: string
}

/** Creates a client for requests that are sent less often than a thousand times a second. */
export function createClient(ports: number[], token: string) {
  const agent = new Agent({ keepAlive: true, maxSockets: 16 })
  let turn = 0
  const send = (method: string, path: string, body?: unknown): Promise<Answer> =>
    new Promise((resolve, reject) => {
      turn += 1
      const headers = { 'PRIVATE-TOKEN': token, 'Content-Type': 'application/json' }
      const port = ports[turn % ports.length]
      const sent = request({ host: '127.0.0.1', port, path, method, headers, agent }, (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }),
        )
      })
      sent.once('error', reject)
      sent.end(body === undefined ? undefined : JSON.stringify(body))
    })
  return {
    get: (path: string) => send('GET', path),
    post: (path: string, body: unknown) => send('POST', path, body),
    delete: (path: string) => send('DELETE', path),
    close: () => agent.destroy(),
  }
}

/** Does the pieces of work in order, some at a time, until the time is over or none is left. */
export async function workThrough(
  work: (index: number) => Promise<void>,
  { workers, seconds, most = Number.POSITIVE_INFINITY }: { workers: number; seconds: number; most?: number },
): Promise<Load> {
  const times: number[] = []
  const startedMs = performance.now()
  let next = 0
  await Promise.all(
    Array.from({ length: workers }, async () => {
      while (next < most && performance.now() - startedMs < seconds * 1000) {
        const sentMs = performance.now()
        next += 1
        await work(next - 1)
        times.push(performance.now() - sentMs)
      }
    }),
  )
  return summaryOf(times, (performance.now() - startedMs) / 1000)
}
