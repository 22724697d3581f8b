import { keyInTenant } from '@switchyard/domain/saga'

/** The key of a saga, an activity or an event. */
export interface TenantKey {
  tenant: string
  id: string
}

/** The key as one text. */
export const keyText = ({ tenant, id }: TenantKey): string => keyInTenant(tenant, id)

export const uniqueKeys = (keys: readonly TenantKey[]): TenantKey[] => [
  ...new Map(keys.map((key) => [keyText(key), key])).values(),
]

/**
 * The order in which every transaction locks and inserts rows of one table. Two transactions that need the same rows then
 * never wait for each other in a circle.
 */
export function byKey(a: TenantKey, b: TenantKey): number {
  if (a.tenant !== b.tenant) return a.tenant < b.tenant ? -1 : 1
  if (a.id === b.id) return 0
  return a.id < b.id ? -1 : 1
}

/** As the two parameters of `unnest($1::text[], $2::text[]) AS key(tenant, id)`. */
export const tenantKeyArrays = (keys: readonly TenantKey[]): [string[], string[]] => [
  keys.map(({ tenant }) => tenant),
  keys.map(({ id }) => id),
]
