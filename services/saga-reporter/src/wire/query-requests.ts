import type { GetSagaRequest, ListSagasRequest, WatchSagasRequest } from '@switchyard/contracts/saga-query'
import type { SagaOrder, SagaPosition, SagaSearch } from '@switchyard/db'
import { invalidParameters } from '@switchyard/domain'
import { defaultTenant, sagaStatuses } from '@switchyard/domain/saga'
import { readParameters } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { WatchFilter } from '../live/watch-filter.js'
import { readCursor } from './cursor.js'
import { sagaOperations } from './operations.js'
import { orderParameters, searchParameters, toOrder, toSearch } from './search-parameters.js'
import { snakeCase } from './snake-case.js'

/** @throws DomainError invalid-parameters */
export function readSagaKey({ tenant, sagaId }: GetSagaRequest): { tenant: string; sagaId: string } {
  refuseNul({ tenant, saga_id: sagaId })
  return { tenant: tenant || defaultTenant, sagaId }
}

/** PostgreSQL cannot store a text with NUL. */
function refuseNul(texts: Record<string, string | undefined>): void {
  const bad = Object.entries(texts).filter(([, text]) => text?.includes('\0'))
  if (bad.length > 0) throw invalidParameters(bad.map(([name]) => `${name} is invalid`))
}

const pageSize = { usual: 20, max: 100 }

/** Named as in the proto, so that errors name a field as its sender does. */
const listSchema = z.object({
  ...searchParameters,
  ...orderParameters,
  page_size: z.int().refine((size) => size >= 0, { error: 'does not have a valid value' }),
})

export interface ListQuery {
  search: SagaSearch
  order: SagaOrder
  after: SagaPosition | null
  take: number
}

/**
 * Reads a list request by the rules of `GET /sagas`.
 *
 * @throws DomainError invalid-parameters
 */
export function readListQuery(request: ListSagasRequest): ListQuery {
  const { page_size, ...given } = readParameters(listSchema, listParameters(request))
  const search = toSearch(given)
  const order = toOrder(given, search)
  const after = request.pageToken === '' ? null : readCursor(order, request.pageToken, 'page_token')
  return { search, order, after, take: Math.min(page_size || pageSize.usual, pageSize.max) }
}

/** The fields of a request by their names in the proto. An empty one is as if left out. */
const listParameters = (request: ListSagasRequest): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(request).flatMap(([name, value]) => (value === '' ? [] : [[snakeCase(name), value]])),
  )

/** @throws DomainError invalid-parameters */
export function readWatchFilter(request: WatchSagasRequest): WatchFilter {
  const { serviceName, sagaId, statuses, operations } = request
  const problems = [
    ...(statuses.some((status) => !sagaStatuses.some((known) => known === status)) ? ['statuses'] : []),
    ...(operations.some((name) => !sagaOperations.some((known) => known === name)) ? ['operations'] : []),
  ]
  if (problems.length > 0)
    throw invalidParameters(problems.map((name) => `${name} does not have a valid value`))
  refuseNul({ tenant: request.tenant, saga_id: sagaId })
  return { tenant: request.tenant || defaultTenant, serviceName, sagaId, statuses, operations }
}

/** @returns null: from now on */
export function readPosition(sequence: number | undefined): number | null {
  if (sequence === undefined) return null
  if (sequence < 0) throw invalidParameters(['after_sequence does not have a valid value'])
  return sequence
}
