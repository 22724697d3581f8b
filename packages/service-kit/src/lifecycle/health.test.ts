import { expect, it } from 'vitest'
import { createServiceContext } from './run-service.js'

it('the metrics show each part as readiness sees it at that moment', async () => {
  const { health, metrics } = createServiceContext('tried', 'silent')
  let isAway = true
  health.addCheck('postgres', async () => {
    if (isAway) throw new Error('away')
  })
  health.addCheck('redis', async () => 'PONG')
  const shown = async () => (await metrics.registry.metrics()).match(/^service_check_up\{.*$/gm)?.sort()
  const redis = 'service_check_up{check="redis",service="tried"} 1'
  expect(await shown()).toEqual(['service_check_up{check="postgres",service="tried"} 0', redis])
  isAway = false
  expect(await shown()).toEqual(['service_check_up{check="postgres",service="tried"} 1', redis])
})
