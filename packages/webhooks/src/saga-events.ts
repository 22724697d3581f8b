/** What webhooks of sagas can tell of. `saga.overdue` and the ones below it come from the worker's sweeps. */
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

/** Sent only when somebody asks for a trial. */
export const testEvent = 'test'
