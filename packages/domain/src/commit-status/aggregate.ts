/** A status as far as it counts for its commit. States besides the posted ones may come from elsewhere. */
export interface CountedStatus {
  status: string
  allowFailure: boolean
}

/**
 * One state for a commit out of the latest statuses of each ref and name, null without any. The rules are
 * GitLab's, first fit: what may fail and did counts nothing; whatever still moves makes the commit running.
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
