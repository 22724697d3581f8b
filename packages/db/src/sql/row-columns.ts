import type { Column } from './write-rows.js'

/** The stored form of a value. */
export interface StoredAs<Value> {
  name: string
  type: string
  expression?: string
  toSql?: (value: Value) => unknown
  /** Converts the value that node-postgres read to the value of the row. Missing: both are equal. */
  fromSql?: (value: never) => Value
  /** Set when an existing value never changes, so that an update keeps it. */
  isFinal?: true
}

/** Returns a column whose value is computed from the item that is written. */
export const column = <Item, Value>(
  { name, type, expression, toSql = (value) => value }: StoredAs<Value>,
  get: (item: Item) => Value,
): Column<Item> => ({
  name,
  type,
  ...(expression === undefined ? {} : { expression }),
  get: (item) => toSql(get(item)),
})

/** A column that holds a property of the row that is written. */
export interface RowColumn<Row> extends Column<Row> {
  key: keyof Row & string
  isFinal: boolean
  fromSql: ((value: never) => unknown) | undefined
}

/** Returns the columns of a table, from one line for each property of its rows. */
export const rowColumns = <Row>(stored: { [Key in keyof Row]: StoredAs<Row[Key]> }): RowColumn<Row>[] =>
  (Object.entries(stored) as [keyof Row & string, StoredAs<Row[keyof Row]>][]).map(([key, storedAs]) => {
    const { fromSql, isFinal = false } = storedAs
    return { ...column(storedAs, (row: Row) => row[key]), key, isFinal, fromSql }
  })

/** Returns some of the columns, for writing rows that have only these properties. */
export const pick = <Row, Key extends keyof Row & string>(
  columns: readonly RowColumn<Row>[],
  ...keys: Key[]
): RowColumn<Pick<Row, Key>>[] =>
  columns.filter(({ key }) => keys.some((picked) => picked === key)) as unknown as RowColumn<Pick<Row, Key>>[]

export const omit = <Row, Key extends keyof Row & string>(
  columns: readonly RowColumn<Row>[],
  ...keys: Key[]
): RowColumn<Omit<Row, Key>>[] =>
  columns.filter(({ key }) => !keys.some((left) => left === key)) as unknown as RowColumn<Omit<Row, Key>>[]

/** Returns the columns of the table `alias`, named by the properties. */
export const selectList = <Row>(alias: string, columns: readonly RowColumn<Row>[]): string =>
  columns.map(({ name, key }) => `${alias}.${name} AS "${key}"`).join(', ')

/** Creates a function that converts a row of node-postgres in place. */
export function rowReader<Row>(columns: readonly RowColumn<Row>[]): (read: Record<string, unknown>) => Row {
  const converted = columns.filter(({ fromSql }) => fromSql !== undefined)
  return (read) => {
    for (const { key, fromSql } of converted) read[key] = fromSql?.(read[key] as never)
    return read as Row
  }
}

/**
 * Returns a time as text. node-postgres would write times in the zone of the process, which takes twice as
 * long.
 */
const timeOf = (value: Date | null): string | null => value?.toISOString() ?? null

export const text = (name: string) => ({ name, type: 'text' })
export const integer = (name: string) => ({ name, type: 'integer' })
export const float = (name: string) => ({ name, type: 'float8' })
export const flag = (name: string) => ({ name, type: 'boolean' })
export const bytes = (name: string) => ({ name, type: 'bytea' })
export const time = (name: string) => ({ name, type: 'timestamptz', toSql: timeOf })

/**
 * Returns a column of JSON. node-postgres reads it, but does not write it as JSON when it is one of many
 * values.
 */
export const json = (name: string) => ({
  name,
  type: 'jsonb',
  toSql: (value: unknown) => (value === null ? null : JSON.stringify(value)),
})

/** Returns a column of whole numbers that node-postgres reads and writes as text. */
export const bigint = (name: string) => ({
  name,
  type: 'bigint',
  toSql: String,
  fromSql: (value: string) => BigInt(value),
})

/** Returns a column whose value never changes once it exists. */
export const final = <Stored extends object>(stored: Stored): Stored & { isFinal: true } => ({
  ...stored,
  isFinal: true,
})
