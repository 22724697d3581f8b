import type { Pooled } from '@switchyard/db'

/** Lists the names of the storages that hold repositories. */
export async function listProjectStorages({ pool }: Pooled): Promise<string[]> {
  const { rows } = await pool.query<{ storage: string }>('SELECT DISTINCT storage FROM projects')
  return rows.map(({ storage }) => storage)
}
