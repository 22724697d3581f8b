import { expect, test } from 'vitest'
import { deliveriesTo } from './deliveries.js'

const mebibyte = 1024 * 1024

test('the templates of many webhooks together make no more than that of one', () => {
  const payload = JSON.stringify({ a: Array.from({ length: 1000 }, () => 'x'.repeat(100)) })
  const bodyTemplate = '{"t": "{{#a}}{{#a}}{{.}}{{/a}}{{/a}}"}'
  const webhooks = Array.from({ length: 100 }, (_, id) => ({ id, bodyTemplate, messageFormat: null }))
  const lengths = [...deliveriesTo(webhooks, { event: 'job', dedupeKey: '1', payload })].map(
    ({ payload: body }) => body.length,
  )
  expect(Math.min(...lengths)).toBe(Math.max(...lengths))
  expect(lengths.reduce((sum, length) => sum + length)).toBeLessThan(1.1 * mebibyte)
})
