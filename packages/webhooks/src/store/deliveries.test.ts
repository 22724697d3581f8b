import type { Pooled } from '@switchyard/db'
import { expect, test } from 'vitest'
import { deliveriesTo, enqueueDeliveries, type NewDelivery } from './deliveries.js'

const mebibyte = 1024 * 1024

/** A pool that notes the number of deliveries that were made before each statement. */
function poolOf(made: () => number) {
  const madeAtStatements: number[] = []
  const query = async () => {
    madeAtStatements.push(made())
    return { rows: [] }
  }
  return { madeAtStatements, pool: { query } as unknown as Pooled['pool'] }
}

test('few of many large bodies are in memory at once', async () => {
  let made = 0
  const { madeAtStatements, pool } = poolOf(() => made)
  function* deliveries(): Generator<NewDelivery> {
    for (; made < 12; made += 1)
      yield { webhookId: 1, event: 'job', dedupeKey: String(made), payload: 'x'.repeat(mebibyte) }
  }
  await enqueueDeliveries(pool, deliveries())
  expect(madeAtStatements).toEqual([3, 7, 11])
})

test('other work gets a turn while many bodies are made', async () => {
  let turns = 0
  const timer = setInterval(() => {
    turns += 1
  }, 1)
  function* deliveries(): Generator<NewDelivery> {
    for (let index = 0; turns === 0 && index < 500; index += 1) {
      for (const untilMs = performance.now() + 10; performance.now() < untilMs; );
      yield { webhookId: 1, event: 'job', dedupeKey: String(index), payload: '{}' }
    }
  }
  await enqueueDeliveries(poolOf(() => 0).pool, deliveries())
  clearInterval(timer)
  expect(turns).toBeGreaterThan(0)
})

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
