import type { Activity } from './activity.js'
import { isSettled, lastEventOf } from './flags.js'
import type { Saga } from './saga.js'

/**
 * How a saga came to its end, as retention sees it. `ended` stands for each of the outcomes and for `resolved`, but
 * not for `settled`: nobody has said that such a saga is over.
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
  /** Null: of every service that has no rule of its own. */
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
 * Reads `ended=30d, succeeded=7d, orders/compensated=90d`: rules divided by commas, each
 * `[service/]kind=duration`, a duration being a whole number with s, m, h, d or w, or `never`. Blank is no rule, which
 * keeps everything that names no time itself.
 *
 * @throws RangeError that says which rule is wrong, and what one looks like
 */
export function parseRetention(text: string): RetentionPolicy {
  const rules = text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map(parseRule)
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
 * When a saga may go; null when it may not, as things are. The time that the client gave it (ExpiresAt) holds instead
 * of the policy's. What is open is never to go, nor what is in error; once an operator has resolved it, it is kept at
 * least as the policy says from then on, whatever the client's time is.
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

/** What of a policy holds for a saga; null while it is open, in error, or went on after it was resolved. */
function retentionKindOf(saga: RetainedSaga, activities: readonly RetainedActivity[]): RetentionKind | null {
  if (saga.status === 'Error') return null
  if (saga.resolvedAt !== null && (saga.endedAt !== null || lastEventOf(saga, activities) <= saga.resolvedAt))
    return 'resolved'
  if (saga.status === 'Ended') return saga.outcome
  return isSettled(activities) ? 'settled' : null
}

/** The most particular rule holds: of the service before of all, of the kind before `ended`. */
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

/** The shortest time that any saga is kept; null when none ever goes by this policy. */
export const shortestKeepMs = (policy: RetentionPolicy): number | null =>
  policy.reduce<number | null>(
    (least, { keepMs }) => (keepMs === null || (least !== null && least <= keepMs) ? least : keepMs),
    null,
  )
