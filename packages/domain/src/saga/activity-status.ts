/**
 * The statuses of an activity from the weakest to the strongest claim. In the execute phase, the claim with
 * the most side effects is the strongest: Revoked has none, ExecuteAborted may have some, Overtime may still
 * complete, Executed is certain.
 */
export const activityStatuses = [
  'NotStarted',
  'Executing',
  'Revoked',
  'ExecuteAborted',
  'Overtime',
  'Executed',
  'Compensating',
  'CompensateAborted',
  'Compensated',
] as const

export type ActivityStatus = (typeof activityStatuses)[number]

/** Returns the strength of a claim, from 0 for NotStarted to 8 for Compensated. */
export const rankOf = (status: ActivityStatus): number => activityStatuses.indexOf(status)

/** Returns the stronger of two claims. */
export const strongest = (a: ActivityStatus, b: ActivityStatus): ActivityStatus =>
  rankOf(a) >= rankOf(b) ? a : b
