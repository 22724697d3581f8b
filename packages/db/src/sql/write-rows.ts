/** A column of a table, and how an item that is written becomes a value of it. */
export interface Column<Item> {
  /** The column's name as SQL spells it. */
  name: string
  /** SQL type of one element of the parameter, which is an array with one element for each item. */
  type: string
  /** The value in the form that node-postgres takes; null becomes NULL. */
  get: (item: Item) => unknown
  /**
   * SQL that makes the column's value of the parameter's element `given.<name>`. Missing: the element itself.
   */
  expression?: string
}

/** A statement that writes any number of items, in their order. */
export interface Write<Item> {
  /** Of the prepared statement. */
  name: string
  text: string
  /** The parameters: one array for each column, or null for a column of which every value is NULL. */
  valuesOf(items: readonly Item[]): (unknown[] | null)[]
}

/** What node-postgres takes to write these items. */
export const queryOf = <Item>({ name, text, valuesOf }: Write<Item>, items: readonly Item[]) => ({
  name,
  text,
  values: valuesOf(items),
})

/**
 * An `INSERT … SELECT FROM unnest(…)`. The table is called `stored`.
 *
 * @param name of the prepared statement
 * @param tail what follows the rows, e.g. `ON CONFLICT DO NOTHING`
 */
export const insertInto = <Item>(
  name: string,
  table: string,
  columns: readonly Column<Item>[],
  tail = '',
): Write<Item> => {
  const names = columns.map((column) => column.name).join(', ')
  const values = columns.map(newValueOf).join(', ')
  return write(
    name,
    columns,
    (given) => `INSERT INTO ${table} AS stored (${names}) SELECT ${values} FROM ${given} ${tail}`,
  )
}

/**
 * An `UPDATE … FROM unnest(…)`. The table is called `stored`.
 *
 * @param name of the prepared statement
 * @param keys columns that identify the row
 * @param changes columns that are set
 */
export const updateIn = <Key, Change>(
  name: string,
  table: string,
  keys: readonly Column<Key>[],
  changes: readonly Column<Change>[],
): Write<Key & Change> => {
  const set = changes.map((column) => `${column.name} = ${newValueOf(column)}`).join(', ')
  const where = keys.map((column) => `stored.${column.name} = ${newValueOf(column)}`).join(' AND ')
  return write<Key & Change>(
    name,
    [...keys, ...changes],
    (given) => `UPDATE ${table} AS stored SET ${set} FROM ${given} WHERE ${where}`,
  )
}

/** What follows `DO UPDATE SET`: these columns get the values of the row that could not be inserted. */
export const setToExcluded = (columns: readonly Column<never>[]): string =>
  columns.map(({ name }) => `${name} = EXCLUDED.${name}`).join(', ')

const newValueOf = ({ name, expression = `given.${name}` }: Column<never>): string => expression

function write<Item>(
  name: string,
  columns: readonly Column<Item>[],
  sqlOf: (given: string) => string,
): Write<Item> {
  const names = columns.map((column) => column.name).join(', ')
  const parameters = columns.map(({ type }, index) => `$${index + 1}::${type}[]`).join(', ')
  return {
    name,
    text: sqlOf(`unnest(${parameters}) AS given(${names})`),
    valuesOf: (items) => columns.map(({ get }) => valuesOrNull(items.map(get))),
  }
}

/**
 * PostgreSQL fills the rows of `unnest` up with NULL where an array is missing; most columns of an item have
 * no value.
 */
const valuesOrNull = (values: unknown[]): unknown[] | null =>
  values.every((value) => value === null || value === undefined) ? null : values
