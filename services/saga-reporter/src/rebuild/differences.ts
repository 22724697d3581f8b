import { keyInTenant } from '@switchyard/domain/saga'
import type { TenantKey } from '@switchyard/saga-store'
import type { StoredRow } from './store.js'

export interface Difference {
  table: 'sagas' | 'saga_activities'
  tenant: string
  id: string
  /**
   * `missing`: events lead to a row that is not stored; `unexpected`: a row is stored without an event; else
   * the columns that differ, by the domain's names.
   */
  what: 'missing' | 'unexpected' | string[]
}

/** A row as it follows from the log. */
type DerivedRow = TenantKey & object

/**
 * How stored rows differ from those that follow from the log, in the columns that were read of the stored
 * rows.
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

/** The difference as one line. It has no values, because they may be payloads. */
export const differenceText = ({ table, tenant, id, what }: Difference): string => {
  const name = `${table} ${tenant}/${id}`
  if (what === 'missing') return `${name}: is missing`
  if (what === 'unexpected') return `${name}: has no event in the log`
  return `${name}: differs in ${what.join(', ')}`
}
