import { statement } from '../statement.js'

/** A column of a table, and how an item that is written becomes a value of it. */
export interface Column<Item> {
  /** The column's name as SQL spells it. */
  name: string
  /** SQL type of one element of the parameter, which is an array with one element for each item. */
  type: string
  /** The value in the form that node-postgres takes; null becomes NULL. */
  get: (item: Item) => unknown
  /** SQL that makes the column's value of the parameter's element `given.<name>`. Missing: the element itself. */
  expression?: string
}

/** An `INSERT … SELECT FROM unnest(…)` of any number of items, in their order. */
export interface Insert<Item> {
  statement: ReturnType<typeof statement>
  /** The parameters: one array for each column. */
  valuesOf(items: readonly Item[]): unknown[][]
}

/**
 * @param name of the prepared statement
 * @param tail what follows the rows, e.g. `ON CONFLICT DO NOTHING`
 */
export function insertInto<Item>(
  name: string,
  table: string,
  columns: readonly Column<Item>[],
  tail = '',
): Insert<Item> {
  const names = columns.map((column) => column.name).join(', ')
  const parameters = columns.map(({ type }, index) => `$${index + 1}::${type}[]`).join(', ')
  const values = columns.map((column) => column.expression ?? `given.${column.name}`).join(', ')
  return {
    statement: statement(
      `INSERT INTO ${table} AS stored (${names}) SELECT ${values} FROM unnest(${parameters}) AS given(${names}) ${tail}`,
      name,
    ),
    valuesOf: (items) => columns.map(({ get }) => items.map(get)),
  }
}

/** node-postgres writes times in the zone of the process, which takes it twice as long. */
export const timeOf = (value: Date | null): string | null => value?.toISOString() ?? null
