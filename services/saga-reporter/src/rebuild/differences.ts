import { keyInTenant } from '@switchyard/domain/saga'
import type { TenantKey } from '@switchyard/saga-store'
import type { StoredRow } from './store.js'

export interface Difference {
  table: 'sagas' | 'saga_activities'
  tenant: string
  id: string
  /**
   * `missing`: the log has events for a row that is not stored; `unexpected`: a stored row has no event;
   * otherwise the differing columns, by their names in the domain.
   */
  what: 'missing' | 'unexpected' | string[]
}

/** A row that was derived from the log. */
type DerivedRow = TenantKey & object

/**
 * Returns the differences between stored and derived rows, in the columns that were read of the stored rows.
 */
export function differencesOf(
  table: Difference['table'],
  stored: readonly StoredRow[],
  derived: readonly DerivedRow[],
): Difference[] {
  const storedByKey = new Map(stored.map((row) => [keyOf(row), row]))
  const derivedKeys = new Set(derived.map(keyOf))
  const differences = derived.flatMap((row): Difference[] => {
    const { tenant, id } = row
    const found = storedByKey.get(keyOf(row))
    if (!found) return [{ table, tenant, id, what: 'missing' }]
    const expected: Record<string, unknown> = { ...row }
    const columns = Object.keys(found).filter((key) => textOf(found[key]) !== textOf(expected[key]))
    return columns.length > 0 ? [{ table, tenant, id, what: columns }] : []
  })
  const unexpected = stored.filter((row) => !derivedKeys.has(keyOf(row)))
  return [
    ...differences,
    ...unexpected.map(({ tenant, id }): Difference => ({ table, tenant, id, what: 'unexpected' })),
  ]
}

const keyOf = ({ tenant, id }: TenantKey): string => keyInTenant(tenant, id)

const textOf = (value: unknown): string =>
  value instanceof Uint8Array ? Buffer.from(value).toString('hex') : (JSON.stringify(value) ?? 'null')

/** Returns the difference as one line without values, because values may be payloads. */
export const differenceText = ({ table, tenant, id, what }: Difference): string => {
  const name = `${table} ${tenant}/${id}`
  if (what === 'missing') return `${name}: is missing`
  if (what === 'unexpected') return `${name}: has no event in the log`
  return `${name}: differs in ${what.join(', ')}`
}
