import { expect, it } from 'vitest'
import { isQueueOf, queueServices } from './queue-services.js'

it('a queue belongs to the service with its name, with a beginning of its name, or with the name of its source', () => {
  const queue = { source: 'shop', queue: 'billing.mail:slow' }
  expect(queueServices(queue)).toEqual(['billing.mail:slow', 'billing.mail', 'billing', 'shop'])
  for (const service of ['billing', 'shop']) expect(isQueueOf(service, queue)).toBe(true)
})

it('a queue does not belong to a service whose name only begins like the name of the queue', () => {
  for (const queue of ['order-history', 'orders', '.order', 'Order'])
    expect(isQueueOf('order', { source: 'jobs', queue })).toBe(false)
  expect(queueServices({ source: 'jobs', queue: '/a' })).toEqual(['/a', 'jobs'])
})
