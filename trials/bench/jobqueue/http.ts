import { Agent, get as httpGet } from 'node:http'
import type { Caller } from '@switchyard/domain/access'
import { createAuthenticator, createHttpApp, createStreamSlots, listen } from '@switchyard/service-kit/http'
import { createServiceContext } from '@switchyard/service-kit/lifecycle'
import { createHistory, createReadHistory } from '../../../services/jobqueue-metrics/src/history/history.js'
import { metricRoutes } from '../../../services/jobqueue-metrics/src/routes.js'
import { createSnapshots } from '../../../services/jobqueue-metrics/src/snapshots/snapshots.js'
import { createStateStreams } from '../../../services/jobqueue-metrics/src/snapshots/state-streams.js'
import { type JobSource, shareSource } from '../../../services/jobqueue-metrics/src/sources/sources.js'
import { longestTurn, timed } from './measure.js'

const requests = 1000
const caller: Caller = {
  user: { id: 1, username: 'amy', name: 'Amy', email: 'amy@example.com', admin: false, state: 'active' },
  token: { id: 1, scopes: ['read_metrics'] },
}

/** Sends a thousand parallel requests, and prints how often the source was read for them. */
export async function thousandRequests(source: JobSource) {
  let reads = 0
  const counted: JobSource = {
    ...source,
    read() {
      reads += 1
      return source.read()
    },
  }
  const snapshots = createSnapshots([shareSource({ source: counted, cacheMs: 60_000, deadlineMs: 10_000 })])
  const context = createServiceContext('bench', 'silent')
  const app = createHttpApp({
    ...context,
    authenticate: createAuthenticator(async () => caller).authenticate,
    routes: metricRoutes({
      snapshots,
      readHistory: createReadHistory(createHistory(snapshots.names), snapshots.names, () => new Date()),
      streams: createStateStreams({ intervalMs: 2000, lifeMs: 1000 }),
      streamSlots: createStreamSlots({ max: 1, perSenderMax: 1 }),
    }),
    rateLimitPerMinute: 0,
  })
  const server = await listen(app, '127.0.0.1', 0, 1000)
  const url = `http://127.0.0.1:${server.port}/api/v4/jobqueue/compound_metrics`
  // More parallel connections than the system queues would be reset before they are accepted.
  const agent = new Agent({ keepAlive: true, maxSockets: 400 })
  const get = () =>
    new Promise<void>((resolve, reject) => {
      const request = httpGet(url, { agent, headers: { 'PRIVATE-TOKEN': 'good' } }, (response) => {
        if (response.statusCode !== 200) reject(new Error(`answer ${response.statusCode}`))
        response.resume().once('end', resolve)
      })
      request.once('error', reject)
    })
  const all = () => Promise.all(Array.from({ length: requests }, get))
  const ms = await timed(all)
  const turn = await longestTurn(get)
  agent.destroy()
  await server.close()
  return { requests, reads, ms, turn }
}
