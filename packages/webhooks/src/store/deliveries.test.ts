import { expect, test } from 'vitest'
import { deliveriesTo } from './deliveries.js'

test('the templates of many webhooks make no more than 64 KiB each', () => {
  const payload = JSON.stringify({ a: Array.from({ length: 1000 }, () => 'x'.repeat(100)) })
  const bodyTemplate = '{"t": "{{#a}}{{#a}}{{.}}{{/a}}{{/a}}"}'
  const webhooks = Array.from({ length: 100 }, (_, id) => ({ id, bodyTemplate, messageFormat: null }))
  const lengths = [...deliveriesTo(webhooks, { event: 'job', dedupeKey: '1', payload })].map(
    ({ payload: body }) => body.length,
  )
  expect(Math.min(...lengths)).toBe(Math.max(...lengths))
  expect(Math.max(...lengths)).toBeLessThan(66 * 1024)
})
