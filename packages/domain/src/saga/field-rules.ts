import type { ActivityStatus } from './activity-status.js'
import type { RetryType } from './events.js'
import { parseEventTime } from './parse-event-time.js'
import { type RejectionCode, SagaRejection } from './rejection.js'

const idCharsMax = 128
const zeroGuid = /^[{(]?0{8}-?0{4}-?0{4}-?0{4}-?0{12}[)}]?$/

/** Returns whether an id is the all-zero GUID, which clients send when they set no id. */
export const isZeroGuid = (id: string): boolean => zeroGuid.test(id)

/** Returns a trimmed id; null when it is blank. An all-zero GUID counts as blank. */
export function optionalId(field: string, text: string): string | null {
  const id = text.trim()
  if (id === '' || isZeroGuid(id)) return null
  if (id.length > idCharsMax)
    throw new SagaRejection('ID_INVALID', `${field} is longer than ${idCharsMax} characters`)
  if (/\p{Cc}/u.test(id)) throw new SagaRejection('ID_INVALID', `${field} has control characters`)
  // The decoder replaces bytes that are not UTF-8 with this character, so different ids would become equal.
  if (id.includes('\ufffd')) throw new SagaRejection('ID_INVALID', `${field} is not UTF-8`)
  return id
}

/** Returns an id as {@link optionalId} does, but refuses a blank id with the given code. */
export function requiredId(field: string, text: string, blank: RejectionCode): string {
  const id = optionalId(field, text)
  if (id === null) throw new SagaRejection(blank, `${field} is blank`)
  return id
}

/** Parses the time; null when the text is blank. */
export function optionalAddTime(text: string): Date | null {
  if (text.trim() === '') return null
  const time = parseEventTime(text)
  if (!time) throw new SagaRejection('ADD_TIME_INVALID', 'expected yyyy-MM-dd HH:mm:ss.fff')
  return time
}

export function notNegative(field: string, value: number, code: RejectionCode): number {
  if (value < 0) throw new SagaRejection(code, `${field} is ${value}`)
  return value
}

const retryStatuses: Record<RetryType, readonly ActivityStatus[]> = {
  Execute: ['Executing', 'Executed', 'ExecuteAborted', 'Overtime', 'Revoked'],
  Compensate: ['Compensating', 'Compensated', 'CompensateAborted'],
}

/** The statuses by the numbers of the clients' enum, which differ from the ranks. */
const statusesByNumber: readonly ActivityStatus[] = [
  'NotStarted',
  'Executing',
  'Executed',
  'Compensating',
  'Compensated',
  'ExecuteAborted',
  'Revoked',
  'CompensateAborted',
  'Overtime',
]

const statusesByText = new Map<string, ActivityStatus>([
  ...statusesByNumber.map((status, number) => [`${number}`, status] as const),
  ...statusesByNumber.map((status) => [status.toLowerCase(), status] as const),
  ['executingovertime', 'Overtime'],
])

export function retryType(value: number): RetryType {
  if (value === 0) return 'Execute'
  if (value === 1) return 'Compensate'
  throw new SagaRejection('RETRY_TYPE_INVALID', `activityRetryType is ${value}`)
}

/**
 * Returns the status of a retry report, by name (upper or lower case) or by number; null when it names none.
 */
export function retryStatus(text: string, type: RetryType): ActivityStatus | null {
  const name = text.trim().toLowerCase()
  if (name === '') return null
  const found = statusesByText.get(name)
  if (!found || !retryStatuses[type].includes(found)) {
    throw new SagaRejection('RETRY_STATUS_INVALID', `expected one of ${retryStatuses[type].join(', ')}`)
  }
  return found
}
