import { sagaOutcomes, sagaStatuses } from '@switchyard/domain/saga'
import { sagaWebhookEvents } from '@switchyard/webhooks'
import { expect, it } from 'vitest'
import { sampleOf } from './webhooks.js'

it.each(sagaWebhookEvents)('the example of %s has a status and an outcome that sagas have', (event) => {
  expect(JSON.parse(sampleOf(event, 'north').payload)).toMatchObject({
    event,
    tenant: 'north',
    saga: {
      status: expect.toBeOneOf([...sagaStatuses]),
      outcome: expect.toBeOneOf([null, ...sagaOutcomes]),
    },
  })
})
