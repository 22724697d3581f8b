import type { Pooled } from '../client.js'
import type { BroadcastMessage } from '../generated/client.js'
import { flag, integer, rowColumns, selectList, text, time } from '../sql/row-columns.js'

/** The columns of `broadcast_messages`. */
export const broadcastMessages = rowColumns<BroadcastMessage>({
  id: integer('id'),
  message: text('message'),
  startsAt: time('starts_at'),
  endsAt: time('ends_at'),
  color: text('color'),
  font: text('font'),
  broadcastType: text('broadcast_type'),
  dismissable: flag('dismissable'),
  targetPath: text('target_path'),
  theme: text('theme'),
  ruleProjectId: integer('rule_project_id'),
  ruleRunId: integer('rule_run_id'),
  createdAt: time('created_at'),
  updatedAt: time('updated_at'),
})

const unfinished = {
  name: 'broadcast-messages-unfinished',
  text: `SELECT ${selectList('m', broadcastMessages)}
    FROM broadcast_messages m WHERE m.ends_at >= $1 ORDER BY m.id DESC`,
}

/**
 * Lists messages whose end is not before `now`, newest first. It uses SQL because admin-broadcast and
 * the worker call it at their start, and the first query of Prisma would take 50 MB of memory.
 */
export async function listUnfinishedBroadcastMessages(
  { pool }: Pooled,
  now: Date,
): Promise<BroadcastMessage[]> {
  const { rows } = await pool.query<BroadcastMessage>({ ...unfinished, values: [now] })
  return rows
}
