import { listedEntries } from '../texts.js'
import type { Activity } from './activity.js'
import { isSettled, lastEventOf } from './flags.js'
import type { Saga } from './saga.js'

/**
 * The ends of sagas that retention distinguishes. `ended` includes each outcome and `resolved`, but not
 * `settled`, because no end was reported for such a saga.
 */
export const retentionKinds = [
  'ended',
  'succeeded',
  'compensated',
  'empty',
  'inconsistent',
  'resolved',
  'settled',
] as const

export type RetentionKind = (typeof retentionKinds)[number]

export interface RetentionRule {
  /** Null: the rule applies to every service without its own rule. */
  service: string | null
  kind: RetentionKind
  /** How long a saga is kept after its last event; null: for ever. */
  keepMs: number | null
}

export type RetentionPolicy = readonly RetentionRule[]

export type RetainedSaga = Pick<
  Saga,
  'serviceName' | 'status' | 'outcome' | 'endedAt' | 'expiresAt' | 'lastEventAt'
> & { resolvedAt: Date | null }

export type RetainedActivity = Pick<Activity, 'status' | 'lastEventAt'>

const unitsMs: Record<string, number> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 }

/**
 * Parses rules such as `ended=30d, succeeded=7d, orders/compensated=90d`. A rule is
 * `[service/]kind=duration`; a duration is a whole number with s, m, h, d or w, or `never`. Without a rule,
 * only sagas with their own expiry are deleted.
 *
 * @throws RangeError that names the invalid rule and the expected form
 */
export function parseRetention(text: string): RetentionPolicy {
  const rules = listedEntries(text).map(parseRule)
  const names = rules.map(({ service, kind }) => (service === null ? kind : `${service}/${kind}`))
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) throw new RangeError(`"${twice}" is given twice`)
  return rules
}

function parseRule(text: string): RetentionRule {
  const match = /^(?:(?<service>.+)\/)?(?<kind>[^/=]+)=(?<duration>[^=]+)$/.exec(text)
  if (!match?.groups) throw new RangeError(`"${text}" is no rule: write [service/]kind=duration`)
  const { service, kind = '', duration = '' } = match.groups
  const known = retentionKinds.find((name) => name === kind.trim())
  if (!known) throw new RangeError(`"${kind.trim()}" in "${text}" is none of ${retentionKinds.join(', ')}`)
  return { service: service?.trim() ?? null, kind: known, keepMs: parseDuration(duration.trim(), text) }
}

function parseDuration(duration: string, rule: string): number | null {
  if (duration === 'never') return null
  const match = /^(\d{1,6})([smhdw])$/.exec(duration)
  const unitMs = unitsMs[match?.[2] ?? '']
  if (!match || unitMs === undefined)
    throw new RangeError(`"${duration}" in "${rule}" is no duration: write 30d, 12h, 90m or never`)
  return Number(match[1]) * unitMs
}

/**
 * Returns the time from which a saga may be deleted; null while it must be kept. The expiry of the client
 * (ExpiresAt) replaces that of the policy. Open sagas and sagas in error are kept. A resolved saga is kept at
 * least for the time of the policy, even when the client's expiry is earlier.
 */
export function purgeDueAt(
  saga: RetainedSaga,
  activities: readonly RetainedActivity[],
  policy: RetentionPolicy,
): Date | null {
  const kind = retentionKindOf(saga, activities)
  if (kind === null) return null
  const keepMs = keepMsOf(policy, saga, kind)
  const { expiresAt, resolvedAt } = saga
  if (kind !== 'settled' && expiresAt && resolvedAt === null) return expiresAt
  if (keepMs === null) return null
  const kept = new Date(lastEventOf(saga, activities).getTime() + keepMs)
  return expiresAt && expiresAt > kept ? expiresAt : kept
}

/**
 * Returns the kind of a saga's end; null while the saga is open or in error, or when it received events after
 * it was resolved.
 */
function retentionKindOf(saga: RetainedSaga, activities: readonly RetainedActivity[]): RetentionKind | null {
  if (saga.status === 'Error') return null
  if (saga.resolvedAt !== null && (saga.endedAt !== null || lastEventOf(saga, activities) <= saga.resolvedAt))
    return 'resolved'
  if (saga.status === 'Ended') return saga.outcome
  return isSettled(activities) ? 'settled' : null
}

/**
 * Returns the time of the most specific rule. A rule of the service comes before a rule of all services, and
 * a rule of the kind before `ended`.
 */
function keepMsOf(policy: RetentionPolicy, saga: RetainedSaga, kind: RetentionKind): number | null {
  const kinds: RetentionKind[] =
    kind === 'settled'
      ? [kind]
      : kind === 'resolved' && saga.outcome
        ? [kind, saga.outcome, 'ended']
        : [kind, 'ended']
  for (const service of [saga.serviceName, null]) {
    for (const name of kinds) {
      const rule = policy.find((given) => given.service === service && given.kind === name)
      if (rule) return rule.keepMs
    }
  }
  return null
}

/** Returns the shortest time of all rules; null when every rule keeps sagas for ever. */
export const shortestKeepMs = (policy: RetentionPolicy): number | null =>
  policy.reduce<number | null>(
    (least, { keepMs }) => (keepMs === null || (least !== null && least <= keepMs) ? least : keepMs),
    null,
  )
