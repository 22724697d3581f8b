import type { DerivedRow } from '@switchyard/db'
import { keyInTenant } from '@switchyard/domain/saga'

export interface Difference {
  table: 'sagas' | 'saga_activities'
  tenant: string
  id: string
  /** `missing`: not there; `unexpected`: there without an event; else the columns that differ, by the domain's names. */
  what: 'missing' | 'unexpected' | string[]
}

/**
 * How stored rows differ from those that follow from the log. Only what both know is compared: neither versions nor
 * content keys, which are notes of those who write.
 */
export function differencesOf(
  table: Difference['table'],
  stored: readonly DerivedRow[],
  derived: readonly DerivedRow[],
): Difference[] {
  const storedByKey = new Map(stored.map((row) => [keyOf(row), row]))
  const derivedKeys = new Set(derived.map(keyOf))
  const differences = derived.flatMap((row): Difference[] => {
    const { tenant, id } = row
    const found = storedByKey.get(keyOf(row))
    if (!found) return [{ table, tenant, id, what: 'missing' }]
    const columns = Object.keys(found).filter((key) => textOf(found[key]) !== textOf(row[key]))
    return columns.length > 0 ? [{ table, tenant, id, what: columns }] : []
  })
  const unexpected = stored.filter((row) => !derivedKeys.has(keyOf(row)))
  return [
    ...differences,
    ...unexpected.map(({ tenant, id }): Difference => ({ table, tenant, id, what: 'unexpected' })),
  ]
}

const keyOf = ({ tenant, id }: DerivedRow): string => keyInTenant(tenant, id)

const textOf = (value: unknown): string =>
  value instanceof Uint8Array ? Buffer.from(value).toString('hex') : (JSON.stringify(value) ?? 'null')

/** One line; no values, which may be payloads. */
export const differenceText = ({ table, tenant, id, what }: Difference): string => {
  const name = `${table} ${tenant}/${id}`
  if (what === 'missing') return `${name}: is missing`
  if (what === 'unexpected') return `${name}: has no event in the log`
  return `${name}: differs in ${what.join(', ')}`
}
