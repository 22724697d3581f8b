/** A column of a table, with the conversion of a written item to its value. */
export interface Column<Item> {
  /** The column's name in SQL. */
  name: string
  /** SQL type of one element of the parameter, which is an array with one element for each item. */
  type: string
  /** Returns the value in the form that node-postgres accepts; null becomes NULL. */
  get: (item: Item) => unknown
  /**
   * SQL that turns the parameter's element `given.<name>` into the column's value. Missing: the element
   * itself.
   */
  expression?: string
}

/** A statement that writes any number of items, in their order. */
export interface Write<Item> {
  /** Name of the prepared statement. */
  name: string
  text: string
  /** Returns the parameters: one array for each column, or null for a column of which every value is NULL. */
  valuesOf(items: readonly Item[]): (unknown[] | null)[]
}

/** Returns the query of node-postgres that writes these items. */
export const queryOf = <Item>({ name, text, valuesOf }: Write<Item>, items: readonly Item[]) => ({
  name,
  text,
  values: valuesOf(items),
})

/**
 * Creates an `INSERT … SELECT FROM unnest(…)`. Its SQL names the table `stored`.
 *
 * @param name of the prepared statement
 * @param tail SQL after the rows, e.g. `ON CONFLICT DO NOTHING`
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
 * Creates an `UPDATE … FROM unnest(…)`. Its SQL names the table `stored`.
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

/**
 * Returns the SQL after `DO UPDATE SET`, by which these columns get the values of the row that could not be
 * inserted.
 */
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
 * Returns null for a column without values. PostgreSQL fills the rows of `unnest` with NULL where an array is
 * missing, and most columns of an item have no value.
 */
const valuesOrNull = (values: unknown[]): unknown[] | null =>
  values.every((value) => value === null || value === undefined) ? null : values
