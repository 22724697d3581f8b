import {
  type AuditEvent,
  type AuditExport,
  type DatabaseOrTransaction,
  type Pooled,
  sequenceHorizon,
} from '@switchyard/db'

/**
 * Returns how far a destination has the log; a new destination has nothing of it. Stores the time of the last
 * check.
 */
export const checkAuditExport = (
  { prisma }: DatabaseOrTransaction,
  destination: string,
  checkedAt: Date,
): Promise<AuditExport> =>
  prisma.auditExport.upsert({
    where: { destination },
    create: { destination, checkedAt },
    update: { checkedAt },
  })

/**
 * Finds the last id up to which no further entry can appear. Null: a transaction that writes entries takes
 * too long.
 */
export const findAuditHorizon = sequenceHorizon('audit_events_id_seq', 'audit-log').find

/** Lists the oldest entries of a range of ids. */
export const listAuditEventsAfter = (
  { prisma }: DatabaseOrTransaction,
  { after, upTo, take }: { after: bigint; upTo: bigint; take: number },
): Promise<AuditEvent[]> =>
  prisma.auditEvent.findMany({ where: { id: { gt: after, lte: upTo } }, orderBy: { id: 'asc' }, take })

/**
 * Stores how far a destination has the log. The position never decreases.
 *
 * @param entries whether the destination has just received entries
 */
export async function advanceAuditExport(
  { pool }: Pooled,
  destination: string,
  { position, entries }: { position: bigint; entries: boolean },
): Promise<void> {
  await pool.query(
    `UPDATE audit_exports SET position = GREATEST(position, $2), failures = 0, failing_since = NULL, retry_at = NULL,
       last_error = NULL, exported_at = CASE WHEN $3 THEN clock_timestamp() ELSE exported_at END
     WHERE destination = $1`,
    [destination, String(position), entries],
  )
}

/** @returns the number of failed attempts since the last success */
export async function noteAuditExportFailure(
  { pool }: Pooled,
  destination: string,
  error: string,
): Promise<number> {
  const { rows } = await pool.query<{ failures: number }>(
    `UPDATE audit_exports SET failures = failures + 1, failing_since = COALESCE(failing_since, clock_timestamp()),
       last_error = $2, retry_at = clock_timestamp() + LEAST(300, power(2, LEAST(failures, 10))) * interval '1 second'
     WHERE destination = $1 RETURNING failures`,
    [destination, error],
  )
  return rows[0]?.failures ?? 0
}

/**
 * Deletes some of the oldest entries.
 *
 * @param upTo id of the last entry that may be deleted; null: every entry that is old enough
 * @returns the number of deleted entries
 */
export async function deleteOldAuditEvents(
  { pool }: Pooled,
  { before, upTo, take }: { before: Date; upTo: bigint | null; take: number },
): Promise<number> {
  const { rowCount } = await pool.query(
    `DELETE FROM audit_events WHERE id = ANY (ARRAY(
       SELECT id FROM audit_events WHERE created_at < $1 AND ($2::bigint IS NULL OR id <= $2)
       ORDER BY created_at LIMIT $3))`,
    [before, upTo === null ? null : String(upTo), take],
  )
  return rowCount ?? 0
}
