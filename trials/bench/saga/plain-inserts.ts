import pg from 'pg'

const batchEvents = 500
const tables = ['saga_events', 'saga_activities', 'sagas'] as const
type Table = (typeof tables)[number]

interface Columns {
  names: string[]
  types: string[]
  /** One array for each column. */
  values: unknown[][]
}

/**
 * Reads the rows of a run in `sourceUrl`, to insert them into the same tables of `targetUrl`: batches of 500
 * events and their share of the other rows, each in one transaction of multi-row statements.
 */
export async function createUnnestInserts(sourceUrl: string, targetUrl: string, lanes: number) {
  const source = new pg.Pool({ connectionString: sourceUrl, max: 1 })
  const target = new pg.Pool({ connectionString: targetUrl, max: lanes })
  const rows = {} as Record<Table, Columns>
  for (const table of tables) rows[table] = await readColumns(source, table)
  const events = rows.saga_events.values[0]?.length ?? 0
  const batches = Math.ceil(events / batchEvents)

  async function insert(batch: Record<Table, unknown[][]>): Promise<void> {
    const client = await target.connect()
    await client.query('BEGIN')
    for (const table of tables) await client.query(insertOf(table, rows[table], batch[table]))
    await client.query('COMMIT')
    client.release()
  }

  return {
    /**
     * Inserts the rows again with the ids of another run.
     *
     * @returns events a second
     */
    async run(runDigits: string): Promise<number> {
      const prepared = Array.from({ length: batches }, (_, index) =>
        sliceAll(rows, index, batches, runDigits),
      )
      let next = 0
      const lane = async () => {
        for (let batch = prepared[next++]; batch; batch = prepared[next++]) await insert(batch)
      }
      const startedMs = performance.now()
      await Promise.all(Array.from({ length: lanes }, lane))
      return (events / (performance.now() - startedMs)) * 1000
    },
    close: () => Promise.all([source.end(), target.end()]),
  }
}

/** Reads all columns except the log's id, which the database assigns. */
async function readColumns(pool: pg.Pool, table: Table): Promise<Columns> {
  const { rows: columns } = await pool.query<{ name: string; type: string }>(
    `SELECT attname AS name, format_type(atttypid, NULL) AS type FROM pg_attribute
      WHERE attrelid = $1::text::regclass AND attnum > 0 AND NOT attisdropped AND NOT (attname = 'id' AND $1 = 'saga_events')
      ORDER BY attnum`,
    [table],
  )
  const names = columns.map(({ name }) => name)
  const { rows } = await pool.query<unknown[]>({
    text: `SELECT ${names.map((name) => `"${name}"`).join(', ')} FROM ${table}
      ORDER BY ${table === 'saga_events' ? 'id' : 'first_seen_at, id'}`,
    rowMode: 'array',
  })
  return {
    names,
    types: columns.map(({ type }) => type),
    values: names.map((_, column) => rows.map((row) => row[column])),
  }
}

const isId = (name: string) => ['id', 'saga_id', 'activity_id'].includes(name)

/** Returns the share of a batch in each table, with the ids of another run. */
function sliceAll(rows: Record<Table, Columns>, index: number, batches: number, runDigits: string) {
  const slice = ({ names, types, values }: Columns) =>
    values.map((column, number) => {
      const from = Math.floor((column.length * index) / batches)
      const part = column.slice(from, Math.floor((column.length * (index + 1)) / batches))
      if (isId(names[number] ?? ''))
        return part.map((id) => (typeof id === 'string' ? runDigits + id.slice(7) : id))
      // Arrays of arrays must have equal lengths, so each inner array is passed as one text.
      return types[number]?.endsWith('[]') ? part.map((list) => `{${(list as string[]).join(',')}}`) : part
    })
  return Object.fromEntries(tables.map((table) => [table, slice(rows[table])])) as Record<Table, unknown[][]>
}

function insertOf(table: Table, { names, types }: Columns, values: unknown[][]) {
  const columns = names.map((name) => `"${name}"`).join(', ')
  const selected = names.map((name, index) =>
    types[index]?.endsWith('[]') ? `"${name}"::${types[index]}` : `"${name}"`,
  )
  const arrays = types.map((type, index) => `$${index + 1}::${type.endsWith('[]') ? 'text' : type}[]`)
  const text = `INSERT INTO ${table} (${columns}) SELECT ${selected.join(', ')}
    FROM unnest(${arrays.join(', ')}) AS given(${columns})`
  return { name: `insert-${table}`, text, values }
}
