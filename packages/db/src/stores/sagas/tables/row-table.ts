import { type RowColumn, rowReader, selectList } from '../../../sql/row-columns.js'
import { type Column, insertInto } from '../../../sql/write-rows.js'

/** A row of `sagas` or `saga_activities` that is written. */
export interface Change<Row> {
  tenant: string
  /** The row as it was read; null when there was none. */
  before: Row | null
  row: Row
}

/** The statements that read and write the rows of a table whose key is (tenant, id). */
export function rowTable<Row extends object>(name: string, columns: readonly RowColumn<Row>[]) {
  const all: Column<Change<Row>>[] = [
    { name: 'tenant', type: 'text', get: ({ tenant }) => tenant },
    // A final value is sent once.
    ...columns.map(({ get, ...column }) => ({
      ...column,
      get: ({ row, before }: Change<Row>) =>
        column.isFinal && before?.[column.key] != null ? null : get(row),
    })),
  ]
  const set = (keepsFinal: boolean) =>
    columns
      .map((column) =>
        keepsFinal && column.isFinal
          ? `${column.name} = COALESCE(stored.${column.name}, EXCLUDED.${column.name})`
          : `${column.name} = EXCLUDED.${column.name}`,
      )
      .join(', ')
  return {
    /** The columns of the row `stored` by the domain's names, without content keys, which older rows do not have. */
    comparedList: selectList(
      'stored',
      columns.filter(({ key }) => key !== 'contentKeys'),
    ),
    /** Some columns of a row `alias`, by the domain's names. */
    listOf: (alias: string, keys: readonly (keyof Row & string)[]) =>
      selectList(
        alias,
        columns.filter(({ key }) => keys.includes(key)),
      ),
    /** What applying events needs of the row `stored`, by the domain's names. */
    foldedList: selectList('stored', columns, (column) => column.readAs ?? `stored.${column.name}`),
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
    fromSql: rowReader(columns),
  }
}
