/** Words that cannot be saga ids in an address: browsers resolve the first two, the API uses the others. */
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
