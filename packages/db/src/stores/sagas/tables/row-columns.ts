import { type Column, insertInto, timeOf } from './column.js'

/** A row of `sagas` or `saga_activities` that is written. */
export interface Change<Row> {
  tenant: string
  /** The row as it was read; null when there was none. */
  before: Row | null
  row: Row
}

/** How the value of one property of the domain is stored. */
export interface StoredAs<Value> {
  name: string
  type: string
  expression?: string
  toSql?: (value: Value) => unknown
  /** Converts the value that node-postgres read to the domain's value. Missing: both are the same. */
  fromSql?: (value: never) => Value
  /** The value never changes once it is there: it is sent once, and an update keeps it. */
  isFinal?: true
  /** SQL that is read of the row `stored` instead of the column when events are applied. */
  readAs?: string
}

export interface RowColumn<Row> extends Column<Change<Row>> {
  key: keyof Row & string
  isFinal: boolean
  readAs: string | undefined
  fromSql: ((value: never) => unknown) | undefined
}

/** The columns of a table, from one line for each property of the domain's row. */
export const rowColumns = <Row>(stored: { [Key in keyof Row]: StoredAs<Row[Key]> }): RowColumn<Row>[] =>
  (Object.entries(stored) as [keyof Row & string, StoredAs<Row[keyof Row]>][]).map(([key, column]) => {
    const { name, type, expression, toSql = (value) => value, fromSql, isFinal = false, readAs } = column
    return {
      key,
      name,
      type,
      isFinal,
      readAs,
      fromSql,
      ...(expression === undefined ? {} : { expression }),
      get: ({ row, before }) => (isFinal && before?.[key] != null ? null : toSql(row[key])),
    }
  })

export const text = (name: string) => ({ name, type: 'text' })
export const integer = (name: string) => ({ name, type: 'integer' })
export const flag = (name: string) => ({ name, type: 'boolean' })
export const bytes = (name: string) => ({ name, type: 'bytea' })
export const time = (name: string) => ({ name, type: 'timestamptz', toSql: timeOf })

/** Words without special characters. An array of arrays would lose its inner bounds, so each list is a text. */
export const words = (name: string) => ({
  name,
  type: 'text',
  expression: `given.${name}::text[]`,
  toSql: (list: readonly string[]) => `{${list.join(',')}}`,
})

/** Text whose characters are bytes. */
export const latin1 = (name: string) => ({
  name,
  type: 'bytea',
  toSql: (value: string) => Buffer.from(value, 'latin1'),
  fromSql: (value: Buffer) => value.toString('latin1'),
})

/** The statements that read and write the rows of a table whose key is (tenant, id). */
export function rowTable<Row extends object>(name: string, columns: readonly RowColumn<Row>[]) {
  const all: Column<Change<Row>>[] = [
    { name: 'tenant', type: 'text', get: ({ tenant }) => tenant },
    ...columns,
  ]
  const set = (keepsFinal: boolean) =>
    columns
      .map((column) =>
        keepsFinal && column.isFinal
          ? `${column.name} = COALESCE(stored.${column.name}, EXCLUDED.${column.name})`
          : `${column.name} = EXCLUDED.${column.name}`,
      )
      .join(', ')
  const list = (of: readonly RowColumn<Row>[], get: (column: RowColumn<Row>) => string) =>
    of.map((column) => `${get(column)} AS "${column.key}"`).join(', ')
  const converted = columns.filter(({ fromSql }) => fromSql !== undefined)
  return {
    /** The columns of the row `stored` by the domain's names, without content keys, which older rows do not have. */
    comparedList: list(
      columns.filter(({ key }) => key !== 'contentKeys'),
      ({ name }) => `stored.${name}`,
    ),
    /** Some columns of a row `alias`, by the domain's names. */
    listOf: (alias: string, keys: readonly (keyof Row & string)[]) =>
      list(
        columns.filter(({ key }) => keys.includes(key)),
        ({ name: column }) => `${alias}.${column}`,
      ),
    /** What applying events needs of the row `stored`, by the domain's names. */
    foldedList: list(columns, (column) => column.readAs ?? `stored.${column.name}`),
    /** Inserts rows whose keys are free, and leaves out those whose keys are taken. */
    insert: insertInto(`${name}-insert`, name, all, 'ON CONFLICT (tenant, id) DO NOTHING'),
    /** Updates rows that the transaction has locked. */
    update: insertInto(`${name}-update`, name, all, `ON CONFLICT (tenant, id) DO UPDATE SET ${set(true)}`),
    /** Updates rows that the transaction has locked, including columns that are final. */
    overwrite: insertInto(
      `${name}-overwrite`,
      name,
      all,
      `ON CONFLICT (tenant, id) DO UPDATE SET ${set(false)}`,
    ),
    /** The domain's row of what node-postgres read. */
    fromSql(read: Record<string, unknown>): Row {
      for (const { key, fromSql } of converted) read[key] = fromSql?.(read[key] as never)
      return read as Row
    },
  }
}
