/** The part of a status that decides the state of its commit. `status` may be a state that cannot be posted. */
export interface CountedStatus {
  status: string
  allowFailure: boolean
}

/**
 * The state of a commit from the latest statuses of each ref and name; null without a status. The first matching rule decides,
 * as in GitLab. Failures that are allowed are ignored, and an unfinished status makes the commit `running`.
 */
export function aggregateStatus(latest: readonly CountedStatus[]): string | null {
  if (latest.length === 0) return null
  const counted = latest.filter(({ status, allowFailure }) => !(allowFailure && forgivable.has(status)))
  const states = new Set(counted.map(({ status }) => status))
  const only = (...allowed: string[]) => [...states].every((state) => allowed.includes(state))
  if (states.size > 0 && only('skipped')) return 'skipped'
  if (only('success', 'skipped')) return 'success'
  if (only('created')) return 'created'
  if (only('success', 'skipped', 'canceled')) return 'canceled'
  if (only('created', 'skipped', 'pending')) return 'pending'
  if (states.has('running') || states.has('pending')) return 'running'
  if (states.has('manual')) return 'manual'
  return states.has('created') ? 'running' : 'failed'
}

const forgivable = new Set(['failed', 'canceled', 'manual'])
