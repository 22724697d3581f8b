import { invalidParameters } from '@switchyard/domain'
import { defaultTenant, sagaFlagKinds, sagaOutcomes, sagaStatuses } from '@switchyard/domain/saga'
import {
  filledText,
  flag,
  pageParameters,
  searchedText,
  text,
  time,
  unsupported,
} from '@switchyard/service-kit/http'
import { z } from 'zod'
import { type SagaOrder, type SagaSearch, sagaOrders, searchedIdsMax } from './search.js'

const flagParameters = Object.fromEntries(sagaFlagKinds.map((kind) => [kind, flag().optional()])) as Record<
  (typeof sagaFlagKinds)[number],
  z.ZodOptional<ReturnType<typeof flag>>
>

export const tenantParameter = {
  tenant: filledText().default(defaultTenant).meta({ description: 'The tenant of the sagas' }),
}

/** The filters of sagas within a tenant. */
const filterParameters = {
  ...flagParameters,
  service_name: text().optional(),
  status: z.enum(sagaStatuses).optional(),
  outcome: z.enum(sagaOutcomes).optional(),
  late: flag().optional(),
  tag: filledText().optional(),
  id_prefix: filledText().optional(),
  search: filledText()
    .optional()
    .meta({
      description: `Part of the id, case-insensitive; without other filters, only the newest ${searchedIdsMax} sagas are searched`,
    }),
  parent_saga_id: filledText().optional(),
  fingerprint: filledText().optional(),
  errors_contains: searchedText().optional(),
  created_after: time().optional(),
  created_before: time().optional(),
  updated_after: time().optional(),
  updated_before: time().optional(),
  ended_after: time().optional(),
  ended_before: time().optional(),
}

/** The filters of sagas with the tenant, to spread into an endpoint's parameters. */
export const searchParameters = { ...tenantParameter, ...filterParameters }

const searchSchema = z.object(searchParameters)

export const toSearch = (given: z.output<typeof searchSchema>): SagaSearch => ({
  tenant: given.tenant,
  serviceName: given.service_name,
  status: given.status,
  outcome: given.outcome,
  late: given.late,
  flags: Object.fromEntries(sagaFlagKinds.map((kind) => [kind, given[kind]])),
  tag: given.tag,
  idPrefix: given.id_prefix,
  idContains: given.search,
  parentSagaId: given.parent_saga_id,
  fingerprint: given.fingerprint,
  errorsContain: given.errors_contains,
  createdAfter: given.created_after,
  createdBefore: given.created_before,
  updatedAfter: given.updated_after,
  updatedBefore: given.updated_before,
  endedAfter: given.ended_after,
  endedBefore: given.ended_before,
})

export const orderParameters = {
  order_by: z.enum(sagaOrders).optional(),
  sort: z.enum(['asc', 'desc']).optional(),
}

const orderSchema = z.object(orderParameters)

/** Returns the order. The default follows from the search, because the index of the search has that order. */
export function toOrder({ order_by, sort }: z.output<typeof orderSchema>, search: SagaSearch): SagaOrder {
  const by = order_by ?? naturalOrder(search)
  return { by, direction: sort ?? (by === 'id' ? 'asc' : 'desc') }
}

function naturalOrder(search: SagaSearch): SagaOrder['by'] {
  if (search.idPrefix !== undefined) return 'id'
  if (search.endedAfter || search.endedBefore) return 'ended_at'
  if (search.updatedAfter || search.updatedBefore) return 'updated_at'
  return 'created_at'
}

const filterNames = new Set(Object.keys(filterParameters))

/**
 * The filter of a bulk operation on sagas. Unknown names and an empty filter are refused, because without
 * them the filter would match more sagas than its sender wants.
 */
export const filterParameter = z.looseObject(filterParameters).superRefine((filter, { addIssue }) => {
  const unknown = Object.keys(filter).filter((name) => !filterNames.has(name))
  for (const name of unknown) addIssue({ code: 'custom', path: [name], message: 'is not a filter' })
  if (unknown.length === 0 && Object.values(filter).every((value) => value === undefined))
    addIssue({ code: 'custom', message: 'is empty' })
})

/** Returns the search of a filter, and the order in which its sagas are processed. */
export function searchOf(tenant: string, filter: z.output<typeof filterParameter>) {
  const search = toSearch({ tenant, ...filter })
  return { search, order: toOrder({}, search) }
}

/** The parameters of cursor pagination. */
export const cursorParameters = {
  per_page: pageParameters.per_page,
  cursor: filledText().optional(),
  page: unsupported('is not supported: follow the Link header, or use cursor'),
}

/** Converts `timeOutSeconds` to `time_out_seconds`. */
export const snakeCase = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** Refuses texts with NUL, which PostgreSQL cannot store. @throws DomainError invalid-parameters */
export function refuseNul(texts: Record<string, string | undefined>): void {
  const bad = Object.entries(texts).filter(([, text]) => text?.includes('\0'))
  if (bad.length > 0) throw invalidParameters(bad.map(([name]) => `${name} is invalid`))
}

const noteCharsMax = 10_000

/** An operator's note about a saga. */
export const noteText = () => filledText(noteCharsMax)

/** Most characters of a name of a tenant or a service, and of an event id. */
export const identifierCharsMax = 128
