/**
 * What is known of an activity, from weakest to strongest claim. In the execute phase the claim with the most side
 * effects wins: Revoked had none, ExecuteAborted may have had some, Overtime may still land, Executed is certain.
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

/** 0 for NotStarted up to 8 for Compensated. */
export const rankOf = (status: ActivityStatus): number => activityStatuses.indexOf(status)

/** The stronger of two claims. */
export const strongest = (a: ActivityStatus, b: ActivityStatus): ActivityStatus =>
  rankOf(a) >= rankOf(b) ? a : b
