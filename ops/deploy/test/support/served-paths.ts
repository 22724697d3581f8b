import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createHttpApp, listen } from '../../../../packages/service-kit/src/http/index.js'
import { createServiceContext } from '../../../../packages/service-kit/src/lifecycle/index.js'
import { repository } from '../../../docker/test/support/build-stages.js'

const candidates = ['/-/liveness', '/-/readiness', '/-/gateway/liveness']

/**
 * Returns the paths for probes that every service answers with 200, and those that are a location of the
 * gateway.
 */
export async function servedPaths(): Promise<{ service: string[]; gateway: string[] }> {
  const { logger, metrics, health } = createServiceContext('probed', 'silent')
  const authenticate = async () => null
  const app = createHttpApp({ logger, metrics, health, authenticate, routes: [], rateLimitPerMinute: 0 })
  const server = await listen(app, '127.0.0.1', 0, 1000)
  const configuration = readFileSync(join(repository, 'ops/gateway/nginx.conf'), 'utf8')
  try {
    const service: string[] = []
    for (const path of candidates) {
      const response = await fetch(`http://127.0.0.1:${server.port}${path}`)
      await response.body?.cancel()
      if (response.status === 200) service.push(path)
    }
    return { service, gateway: candidates.filter((path) => configuration.includes(`location = ${path} {`)) }
  } finally {
    await server.close()
  }
}
