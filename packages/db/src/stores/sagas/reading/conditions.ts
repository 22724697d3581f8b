import { type SagaFlagKind, sagaFlagKinds } from '@switchyard/domain/saga'
import { likeText } from '../../../sql/like-pattern.js'
import type { SagaSearch } from './saga-search.js'
import type { SqlParameters } from './sql-parameters.js'

/** The part of a search that another table answers, in the order of its rows. */
export type Driver = { flag: SagaFlagKind } | 'tag' | 'fingerprint' | 'errors' | 'id' | null

/**
 * A saga's row is updated for an ordinary event of an activity only when the event is at least this much newer than the
 * stored time of the last event. The true time of the last event may therefore be this much later than the stored one.
 */
const staleness = "interval '10 seconds'"

const lastActivityEvent = `(SELECT max(a.last_event_at) FROM saga_activities a
  WHERE a.tenant = s.tenant AND a.saga_id = s.id)`

/** When the last event about a saga or its activities was received; null without any activity is left out. */
const lastEvent = `greatest(s.last_event_at, ${lastActivityEvent})`

/** A condition in SQL, with `?` in place of the value. */
const plain: [keyof SagaSearch, string][] = [
  ['serviceName', 's.service_name = ?'],
  ['status', 's.status = ?'],
  ['outcome', 's.outcome = ?'],
  ['parentSagaId', 's.parent_saga_id = ?'],
  ['createdAfter', 's.first_seen_at >= ?'],
  ['createdBefore', 's.first_seen_at <= ?'],
  ['endedAfter', 's.ended_at >= ?'],
  ['endedBefore', 's.ended_at <= ?'],
  ['updatedAfter', `s.last_event_at >= ?::timestamptz - ${staleness}`],
  // The activities are read only where the stored time does not decide.
  ['updatedAfter', `(s.last_event_at >= ? OR ${lastActivityEvent} >= ?)`],
  ['updatedBefore', 's.last_event_at <= ?'],
  ['updatedBefore', `(s.last_event_at < ?::timestamptz - ${staleness} OR ${lastEvent} <= ?)`],
  // A saga is created before it is updated, so a walk from the newest saga on can begin at this time.
  ['updatedBefore', 's.first_seen_at <= ?'],
]

const exists = (found: boolean, subquery: string) => `${found ? '' : 'NOT '}EXISTS (SELECT FROM ${subquery})`

const errorsExist = (condition: string) =>
  exists(true, `saga_errors e WHERE e.tenant = s.tenant AND e.saga_id = s.id AND ${condition}`)

/** The conditions for a row `s` of sagas, without the condition that the driver has applied. */
export function conditionsOf(search: SagaSearch, driver: Driver, parameters: SqlParameters): string[] {
  const { late, tag, idPrefix, idContains, fingerprint, errorsContain } = search
  const conditions = [`s.tenant = ${parameters.add(search.tenant)}`]
  for (const [key, sql] of plain) {
    if (search[key] !== undefined) conditions.push(sql.replaceAll('?', parameters.add(search[key])))
  }
  if (late !== undefined) conditions.push(late ? 's.late' : 'NOT s.late')
  if (idPrefix !== undefined) conditions.push(`s.id LIKE ${parameters.add(`${likeText(idPrefix)}%`)}`)
  if (idContains !== undefined && driver !== 'id')
    conditions.push(containsText('s.id', idContains, parameters))
  if (tag !== undefined && driver !== 'tag') {
    const given = parameters.add(tag)
    conditions.push(
      exists(true, `saga_tags t WHERE t.tenant = s.tenant AND t.saga_id = s.id AND t.tag = ${given}`),
    )
  }
  if (fingerprint !== undefined && driver !== 'fingerprint') {
    const given = parameters.add(fingerprint)
    conditions.push(errorsExist(`e.fingerprint = ${given}`))
  }
  if (errorsContain !== undefined && driver !== 'errors') {
    const pattern = parameters.add(containsPattern(errorsContain))
    conditions.push(errorsExist(`e.folded LIKE lower(${pattern})`))
  }
  return [...conditions, ...flagConditions(search, driver, parameters)]
}

function flagConditions({ flags = {} }: SagaSearch, driver: Driver, parameters: SqlParameters): string[] {
  const driving = typeof driver === 'object' ? driver?.flag : undefined
  return sagaFlagKinds.flatMap((kind) => {
    const wanted = flags[kind]
    if (wanted === undefined || kind === driving) return []
    const given = parameters.add(kind)
    return exists(wanted, `saga_flags f WHERE f.tenant = s.tenant AND f.kind = ${given} AND f.saga_id = s.id`)
  })
}

export const containsPattern = (text: string): string => `%${likeText(text)}%`

/** The condition that a column contains a text, in any case. */
export const containsText = (column: string, text: string, parameters: SqlParameters): string =>
  `lower(${column}) LIKE lower(${parameters.add(containsPattern(text))})`

/** The rarest part of a search that has a table of its own. */
export function driverOf({ flags = {}, tag, fingerprint, errorsContain, idContains }: SagaSearch): Driver {
  const flag = sagaFlagKinds.find((kind) => flags[kind])
  if (flag) return { flag }
  if (tag !== undefined) return 'tag'
  if (fingerprint !== undefined) return 'fingerprint'
  if (errorsContain !== undefined) return 'errors'
  return idContains === undefined ? null : 'id'
}
