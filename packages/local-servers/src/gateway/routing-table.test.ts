import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { findDestination, metricsRoutes, readRoutes } from './routing-table.js'

const shipped = readRoutes(join(import.meta.dirname, '../../../../ops/gateway/routes.json'))
const routes = [...metricsRoutes(['git-api', 'worker']), ...shipped]

describe('the routing table', () => {
  it.each([
    ['/api/v4/sagas', 'saga-reporter'],
    ['/api/v4/sagas/booking-1?per_page=3', 'saga-reporter'],
    ['/api/v4/sagas?x=/api/v4/jobqueue', 'saga-reporter'],
    ['/api/v4/broadcast_messages/7', 'admin-broadcast'],
    ['/api/v4/jobqueue/queue_metrics', 'jobqueue-metrics'],
    ['/api/v4/sidekiq/queue_metrics', 'jobqueue-metrics'],
    ['/api/v4/projects/root%2Fdemo/repository/commits', 'git-api'],
    ['/api/v4/openapi.json', 'git-api'],
    ['/api/v4/docs/swagger-ui.css', 'git-api'],
    ['/root/demo.git/info/refs?service=git-upload-pack', 'git-api'],
    ['//root/demo.git/HEAD', 'git-api'],
    ['//api///v4/sagas//x?a=//', 'saga-reporter'],
  ])('%s goes to its service, unchanged', (url, service) => {
    expect(findDestination(routes, url)).toEqual({ service, url })
  })

  it.each(['/api/v4/sagasx', '/api/v4/sagas%2Fx', '/api/v4/jobqueues'])(
    'a prefix ends at a slash: %s',
    (url) => {
      expect(findDestination(routes, url)?.service).toBe('git-api')
    },
  )

  it.each([
    ['/-/git-api/readiness', 'git-api', '/-/readiness'],
    ['/-/worker/liveness?verbose', 'worker', '/-/liveness?verbose'],
    ['/-/worker/metrics', 'worker', '/-/metrics'],
    ['//-//worker/metrics', 'worker', '/-/metrics'],
  ])('%s reaches the named service', (url, service, target) => {
    expect(findDestination(routes, url)).toEqual({ service, url: target })
  })

  it('the gateway itself has no metrics', () => {
    expect(findDestination(routes, '/metrics')).toBeNull()
    expect(findDestination(routes, '/metrics/x')).toBeNull()
    expect(findDestination(routes, '//metrics')).toBeNull()
    expect(findDestination(routes, '/-/metrics')).toBeNull()
  })
})
