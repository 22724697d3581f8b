import { sagaOutcomes, sagaStatuses } from '@switchyard/domain/saga-status'
import type { Query } from '../../api/client'
import { oneOf } from '../../lib/search-params'

export const sagaFlags = ['overdue', 'stuck', 'parked', 'inconsistent', 'settled', 'late'] as const

/** The query in the list's address. */
export interface SagaSearch {
  status?: string
  outcome?: string
  service?: string
  q?: string
  flag?: string
  /** Fingerprint of the errors of one cause. */
  fingerprint?: string
  /** The saga that started the listed ones. */
  parent?: string
  tenant?: string
  from?: string
  to?: string
  sort?: string
  view?: string
  /** A displayed bulk job. */
  job?: string
}

/** The filter parameters of the address. */
export const filterNames = [
  'status',
  'outcome',
  'service',
  'q',
  'flag',
  'fingerprint',
  'parent',
  'from',
  'to',
] as const

/** The parameters of the address that a saved view stores. */
export const viewNames = [...filterNames, 'tenant', 'sort'] as const

export const sagaSorts = [
  { value: 'stalest', label: 'Stalest first', query: { order_by: 'updated_at', sort: 'asc' } },
  { value: 'updated', label: 'Last event first', query: { order_by: 'updated_at', sort: 'desc' } },
  { value: 'newest', label: 'Newest first', query: { order_by: 'created_at', sort: 'desc' } },
  { value: 'oldest', label: 'Oldest first', query: { order_by: 'created_at', sort: 'asc' } },
  { value: 'ended', label: 'Last ended first', query: { order_by: 'ended_at', sort: 'desc' } },
  { value: 'id', label: 'By id', query: { order_by: 'id', sort: 'asc' } },
] as const

/** The meaning of a text in the search box. */
export type SearchKind = 'search' | 'id_prefix' | 'errors_contains' | 'tag'

export const errorTextMin = 3

/** Meanings as an id: part of an id is searched only among the newest sagas, its beginning among all. */
const ids: SearchKind[] = ['search', 'id_prefix']

/** Returns the possible meanings of a text, the most likely first. */
export function meaningsOf(text: string): SearchKind[] {
  const errors: SearchKind[] = text.trim().length >= errorTextMin ? ['errors_contains'] : []
  if (/^[^\s=]+=./.test(text)) return ['tag', ...ids, ...errors]
  return /\s/.test(text) ? [...errors, ...ids] : [...ids, ...errors]
}

/** Returns a time in the address for the API; undefined for an invalid time. */
const timeOf = (text: string | undefined): string | undefined => {
  const ms = Date.parse(text ?? '')
  return Number.isNaN(ms) ? undefined : new Date(ms).toISOString()
}

/**
 * Returns the filters of the API for the filters in the address. Unknown values are left out.
 *
 * @param kind the meaning of `q`
 */
export function filterOf(search: SagaSearch, kind: SearchKind | undefined): Record<string, string | boolean> {
  const flag = oneOf(sagaFlags, search.flag)
  const filter = {
    status: oneOf(sagaStatuses, search.status),
    outcome: oneOf(sagaOutcomes, search.outcome),
    service_name: search.service,
    fingerprint: search.fingerprint,
    parent_saga_id: search.parent,
    created_after: timeOf(search.from),
    created_before: timeOf(search.to),
    ...(flag && { [flag]: true }),
    ...(kind && search.q && { [kind]: search.q }),
  }
  return Object.fromEntries(
    Object.entries(filter).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  ) as Record<string, string | boolean>
}

export const sortQuery = ({ sort }: SagaSearch): Query =>
  sagaSorts.find(({ value }) => value === sort)?.query ?? {}
