/** Events of saga webhooks. The worker's flag sweep causes `saga.overdue` and the events below it. */
export const sagaWebhookEvents = [
  'saga.error',
  'saga.ended',
  'saga.resolved',
  'saga.overdue',
  'saga.stuck',
  'saga.settled',
  'saga.inconsistent',
  'saga.parked',
] as const

export const testEvent = 'test'
