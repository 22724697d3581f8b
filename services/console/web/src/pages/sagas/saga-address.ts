/** Browsers resolve the first two; the others are addresses of the API beside those of sagas. */
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

/** Returns whether the API has an address for the saga with this id. */
export const hasAddress = (sagaId: string): boolean => !wordsOfAddresses.includes(sagaId)
