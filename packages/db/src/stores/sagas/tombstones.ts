import type { Database } from '../../client.js'

/**
 * Deletes tombstones from before an instant. A tombstone stays while the log has events of its saga or activity, so
 * that a rebuild from the log does not bring the saga back.
 *
 * @param after the position at which to continue; null: from the oldest tombstone on
 */
export async function deleteTombstones(
  { pool }: Pick<Database, 'pool'>,
  { before, after, rowsMax }: { before: Date; after: readonly string[] | null; rowsMax: number },
): Promise<{ deleted: number; next: readonly string[] | null }> {
  const { rows } = await pool.query<{ position: string[]; deleted: boolean }>(
    `WITH page AS (
      SELECT tenant, kind, id, purged_at FROM saga_tombstones
      WHERE purged_at < $1 AND (purged_at, tenant, kind, id) > ($2::timestamptz, $3, $4, $5)
      ORDER BY purged_at, tenant, kind, id LIMIT $6
    ), gone AS (
      DELETE FROM saga_tombstones t USING page p
      WHERE t.tenant = p.tenant AND t.kind = p.kind AND t.id = p.id AND CASE p.kind
        WHEN 'saga' THEN NOT EXISTS (
          SELECT FROM saga_events e WHERE e.tenant = p.tenant AND e.saga_id = p.id)
        ELSE NOT EXISTS (
          SELECT FROM saga_events e WHERE e.tenant = p.tenant AND e.activity_id = p.id AND e.saga_id IS NULL)
      END
      RETURNING t.tenant, t.kind, t.id
    )
    SELECT ARRAY[p.purged_at::text, p.tenant, p.kind, p.id] AS position, g.id IS NOT NULL AS deleted
    FROM page p LEFT JOIN gone g USING (tenant, kind, id)
    ORDER BY p.purged_at, p.tenant, p.kind, p.id`,
    [before, ...(after ?? ['-infinity', '', '', '']), rowsMax],
  )
  return {
    deleted: rows.filter(({ deleted }) => deleted).length,
    next: rows.length < rowsMax ? null : (rows.at(-1)?.position ?? null),
  }
}
