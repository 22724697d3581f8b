import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { dayMs, type FieldProblems } from '@switchyard/domain'
import { type CronExpression, CronExpressionParser } from 'cron-parser'
import { LRUCache } from 'lru-cache'
import type { FreezePeriodFields } from './store.js'

const rememberedMax = 1_000
/** Times are listed from two days ago to tomorrow. */
export const listedMs = { before: 2 * dayMs, after: dayMs }
/** Most changes in the listed days; a period with more changes is listed in part. */
const changesMax = 1_000
const expressionLengthMax = 255
const timezoneLengthMax = 64

/** A time during which a freeze period is active, both ends included. */
export interface FrozenTime {
  startsAt: Date
  endsAt: Date
}

/** The state of a freeze period, and the time for which this state is valid. */
interface Answer {
  /** The latest start of the period. */
  start: Date
  /** The end of the period; null: it is not active. */
  end: Date | null
  /** The first instant after which the answer may differ, in epoch ms. */
  validUntilMs: number
  /** The instant for which the answer was made, in epoch ms. */
  validFromMs: number
}

export type FreezeCalendar = ReturnType<typeof createFreezeCalendar>

/**
 * Finds the active freeze periods. The evaluation of a cron expression that matches only 29 February takes
 * about a tenth of a second, so each answer is cached until it may change.
 */
export function createFreezeCalendar() {
  const answers = new LRUCache<string, Answer>({ max: rememberedMax })
  const listed = new LRUCache<string, FrozenTime[]>({ max: rememberedMax })

  return {
    /**
     * Lists when a period is active in the days around now, earliest first. The times are computed once a
     * day.
     *
     * @throws the reason of the signal when it is aborted
     */
    async listTimes(period: FreezePeriodFields, now: Date, signal: AbortSignal): Promise<FrozenTime[]> {
      const fromMs = Math.floor(now.getTime() / dayMs) * dayMs - listedMs.before
      const key = JSON.stringify([period.freezeStart, period.freezeEnd, period.cronTimezone, fromMs])
      const known = listed.get(key)
      if (known) return known
      const toMs = fromMs + listedMs.before + dayMs + listedMs.after
      const found = await timesBetween(period, { fromMs, toMs, signal })
      listed.set(key, found)
      return found
    },

    /** Finds the active period that ends last; null when no period is active. */
    async findLast<Period extends FreezePeriodFields>(
      periods: readonly Period[],
      now: Date,
    ): Promise<(FrozenTime & { period: Period }) | null> {
      let last: (FrozenTime & { period: Period }) | null = null
      for (const period of periods) {
        const key = JSON.stringify([period.freezeStart, period.freezeEnd, period.cronTimezone])
        let answer = answers.get(key)
        if (!answer || now.getTime() < answer.validFromMs || now.getTime() > answer.validUntilMs) {
          answer = answerAt(period, now)
          answers.set(key, answer)
          await yieldToEventLoop()
        }
        const { start, end } = answer
        if (end && (last === null || end > last.endsAt)) last = { startsAt: start, endsAt: end, period }
      }
      return last
    },
  }
}

/**
 * Evaluates a period. It is active from its latest start until the first end after that start, both included.
 */
function answerAt({ freezeStart, freezeEnd, cronTimezone: tz }: FreezePeriodFields, now: Date): Answer {
  const validFromMs = now.getTime()
  // The library finds times before the given time, and `now` may be the start itself.
  const start = parse(freezeStart, { tz, currentDate: new Date(validFromMs + 1) })
    .prev()
    .toDate()
  const end = parse(freezeEnd, { tz, currentDate: start }).next().toDate()
  if (now <= end) return { start, end, validFromMs, validUntilMs: end.getTime() }
  const next = parse(freezeStart, { tz, currentDate: now }).next()
  return { start, end: null, validFromMs, validUntilMs: next.getTime() - 1 }
}

/** Lists the times in which a period is active. Times without a gap between them are merged. */
async function timesBetween(
  period: FreezePeriodFields,
  { fromMs, toMs, signal }: { fromMs: number; toMs: number; signal: AbortSignal },
): Promise<FrozenTime[]> {
  const times: FrozenTime[] = []
  let atMs = fromMs
  for (let change = 0; change < changesMax && atMs <= toMs; change += 1) {
    signal.throwIfAborted()
    const { start, end, validUntilMs } = answerAt(period, new Date(atMs))
    const last = times.at(-1)
    if (end && last && start <= last.endsAt) last.endsAt = end
    else if (end) times.push({ startsAt: start, endsAt: end })
    atMs = validUntilMs + 1
    await yieldToEventLoop()
  }
  return times
}

const parse = (expression: string, at: { tz: string; currentDate: Date }): CronExpression =>
  CronExpressionParser.parse(expression, at)

/** Returns problems of a freeze period, by field. An expression that matches no time is a problem. */
export function freezePeriodProblems(period: FreezePeriodFields): FieldProblems {
  const { freezeStart, freezeEnd, cronTimezone } = period
  const wrong = ['syntax is invalid']
  return {
    ...(matchesSomeDay(freezeStart) ? {} : { freeze_start: wrong }),
    ...(matchesSomeDay(freezeEnd) ? {} : { freeze_end: wrong }),
    ...(isTimezone(cronTimezone) ? {} : { cron_timezone: wrong }),
  }
}

const daysOfMonths = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

/** Returns whether a text is a cron expression of five plain fields that matches some day of the calendar. */
function matchesSomeDay(expression: string): boolean {
  if (expression.length > expressionLengthMax) return false
  const fields = expression.trim().split(/\s+/)
  if (fields.length !== 5 || !fields.every(isPlainField)) return false
  try {
    const { month, dayOfMonth, dayOfWeek } = CronExpressionParser.parse(expression).fields
    const firstDay = Math.min(...dayOfMonth.values.map(Number))
    const longest = Math.max(...month.values.map((number) => daysOfMonths[Number(number) - 1] ?? 0))
    return !dayOfWeek.isWildcard || firstDay <= longest
  } catch {
    return false
  }
}

/**
 * Returns whether a field has none of the library's extensions (`L`, `#`, `H`, `?`), because some expressions
 * with them match once in decades.
 */
const isPlainField = (field: string) =>
  field
    .split(',')
    .every((item) => /^(?:\*|(?:\d{1,2}|[a-z]{3})(?:-(?:\d{1,2}|[a-z]{3}))?)(?:\/\d{1,2})?$/i.test(item))

function isTimezone(name: string): boolean {
  if (name.length > timezoneLengthMax || !/^[A-Za-z]/.test(name)) return false
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}
