/** Browsers resolve the first two, the others are addresses of the API beside those of sagas. */
const wordsOfAddresses = [
  '.',
  '..',
  'bulk',
  'commands',
  'export',
  'failure_history',
  'parked_activities',
  'stats',
  'stream',
  'webhooks',
]

/** Whether the API has an address that shows the saga with this id. */
export const hasAddress = (sagaId: string): boolean => !wordsOfAddresses.includes(sagaId)
