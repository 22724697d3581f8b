import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { credentials, Metadata } from '@grpc/grpc-js'
import { SagaClient } from '@switchyard/contracts/saga'
import { execa } from 'execa'
import { apiOf } from '../support/api.js'
import { createMix } from '../support/mix.js'
import { listDescendants } from '../support/processes.js'
import type { Tree } from '../support/tree.js'

/** Settings with which the worker detects problems within seconds. */
export const settings = {
  SAGA_SWEEP_SECONDS: '2',
  SAGA_STUCK_AFTER_SECONDS: '5',
  SAGA_GRACE_SECONDS: '0',
  SAGA_PARKED_AFTER_SECONDS: '5',
  SAGA_RETENTION: 'ended=30d, succeeded=10s',
  SAGA_RETENTION_EVERY_SECONDS: '2',
  WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true',
  RATE_LIMIT_PER_MINUTE: '0',
  // No server listens at this address.
  AUDIT_EXPORT_HTTP_URL: 'http://127.0.0.1:9/audit',
}

/** Starts a receiver that accepts every other delivery of a webhook and refuses the rest. */
async function startReceiver() {
  let count = 0
  const server = createServer((request, response) => {
    count += 1
    request.resume()
    response.writeHead(count % 2 === 0 ? 204 : 500).end()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    close: () => server.close(),
  }
}

/** Begins a request whose body never arrives, and disconnects. */
async function abort(tree: Tree, path: string): Promise<void> {
  const socket = connect(tree.httpPort, '127.0.0.1')
  const head = `POST /api/v4${path} HTTP/1.1\r\nHost: x\r\nPRIVATE-TOKEN: ${tree.rootToken}\r\n`
  socket.on('error', () => {}).write(`${head}Content-Type: application/json\r\nContent-Length: 99\r\n\r\n{`)
  await delay(500)
  socket.destroy()
}

/** Returns four sagas: in error, stuck, with an overdue activity, and with contradicting events. */
const troubledSagas = () => {
  const saga = (saga_id: string, ...events: Record<string, unknown>[]) =>
    [{ operation: 'SagaStarted', service_name: 'orders' }, ...events].map((event, index) => ({
      ...event,
      saga_id,
      event_id: `${saga_id}-${index}`,
    }))
  const activity = (saga_id: string) => ({ activity_id: `${saga_id}-a` })
  return [
    ...saga(
      'in-error',
      { operation: 'ActivityExecuteStarted', ...activity('in-error') },
      { operation: 'ActivityCompensateAborted', ...activity('in-error'), errors: 'closed' },
      { operation: 'SagaEnded' },
    ),
    ...saga('stuck'),
    ...saga('overdue', { operation: 'ActivityExecuteStarted', ...activity('overdue'), time_out_seconds: 1 }),
    ...saga(
      'contradiction',
      { operation: 'ActivityEnded', ...activity('contradiction') },
      { operation: 'ActivityRevoked', ...activity('contradiction') },
    ),
  ]
}

/** Starts typical requests of people and programs, which repeat until they are stopped. */
export async function startTraffic(tree: Tree) {
  const api = apiOf(tree.url, tree.rootToken)
  const receiver = await startReceiver()
  const work = mkdtempSync(join(tmpdir(), 'switchyard-traffic-'))
  const mix = await createMix(tree)
  const streams = new AbortController()
  const follow = async (path: string) => {
    const answer = await fetch(`${tree.url}/api/v4${path}`, {
      headers: { 'PRIVATE-TOKEN': tree.rootToken },
      signal: streams.signal,
    })
    if (!answer.ok) throw new Error(`${path}: ${answer.status}`)
  }
  await api('POST', '/projects', { name: 'watched', initialize_with_readme: true })
  await api('POST', '/projects/root%2Fwatched/hooks', { url: receiver.url, push_events: true })
  await api('POST', '/sagas/webhooks', {
    url: receiver.url,
    secret: 'whsec-of-the-monitoring-trial',
    events: ['saga.ended'],
  })
  await api('POST', '/saga_events', { events: troubledSagas() })
  const followed = ['/broadcast_messages/stream', '/sagas/stream', '/jobqueue/stream'].map(follow)
  await Promise.all(followed)
  const remote = `${tree.url.replace('://', `://root:${tree.rootToken}@`)}/root/watched.git`
  await execa('git', ['clone', '--quiet', remote, work])
  const author = ['-c', 'user.name=Ann', '-c', 'user.email=ann@example.com']
  const git = (...args: string[]) => execa('git', ['-C', work, ...author, ...args])

  let stopped = false
  async function repeat() {
    for (let round = 0; !stopped; round += 1) {
      await mix.once()
      await git('commit', '--quiet', '--allow-empty', '-m', `round ${round}`)
      await git('push', '--quiet', 'origin', 'HEAD')
      await fetch(`${tree.url}/console/`)
      await api('POST', '/broadcast_messages', { message: `round ${round}` })
      const written = ['/projects', '/saga_events', '/broadcast_messages']
      await Promise.all(written.map((path) => abort(tree, path)))
    }
  }
  const repeating = repeat()
  return {
    async stop() {
      stopped = true
      streams.abort()
      await repeating
      await mix.close()
      receiver.close()
      rmSync(work, { recursive: true, force: true })
    },
  }
}

/** Kills PostgreSQL repeatedly until each service has answered a request and a call with an error. */
export async function breakDatabase(tree: Tree): Promise<void> {
  const asked = ['/projects', '/sagas', '/broadcast_messages?page=1', '/jobqueue/queue_metrics', '/user']
  const broken = new Set<string>()
  const sagas = new SagaClient(tree.grpcAddress, credentials.createInsecure())
  const metadata = new Metadata()
  metadata.set('authorization', `Bearer ${tree.rootToken}`)
  const ask = async (path: string) => {
    const { status } = await fetch(`${tree.url}/api/v4${path}`, {
      headers: { 'PRIVATE-TOKEN': tree.rootToken },
    })
    if (status >= 500) broken.add(path.split(/[/?]/)[1] ?? '')
  }
  const report = (number: number) =>
    new Promise<void>((resolve) => {
      const event = { sagaId: `broken-${number}`, serviceName: 'orders' }
      sagas.sagaStarted(event, metadata, { deadline: Date.now() + 5000 }, (error) => {
        if (error) broken.add('grpc')
        resolve()
      })
    })
  for (let number = 0; number < 20 && broken.size < 4; number += 1) {
    const server = listDescendants(tree.pid).find(({ command }) => /bin\/postgres -D/.test(command))
    if (server) process.kill(server.pid, 'SIGKILL')
    await Promise.all([...asked.map(ask), report(number)])
    await delay(200)
  }
  sagas.close()
}
