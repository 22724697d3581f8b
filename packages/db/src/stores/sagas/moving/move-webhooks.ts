import { setTimeout as delay } from 'node:timers/promises'
import { conflict } from '@switchyard/domain'
import type { Database } from '../../../client.js'
import { lastSagaEventId } from '../../webhooks/saga-cursor.js'
import { fenceTenant } from './fence.js'
import { movingReason } from './tenant-tables.js'

type Pool = Pick<Database, 'pool'>

const pollMs = 200
const deliveriesMsMax = 60_000

async function waitUntil(isSo: () => Promise<boolean>, timeMsMax: number, otherwise: string): Promise<void> {
  const endMs = performance.now() + timeMsMax
  while (!(await isSo())) {
    if (performance.now() > endMs) throw conflict(otherwise)
    await delay(pollMs)
  }
}

export async function hasWebhooks({ pool }: Pool, tenant: string): Promise<boolean> {
  return (await pool.query('SELECT FROM webhooks WHERE tenant = $1 LIMIT 1', [tenant])).rowCount !== 0
}

/**
 * Waits until the worker has stored deliveries for every event that the log has now; it reads none of these events again.
 *
 * @throws DomainError conflict when the worker of the cell does not do it
 */
export async function awaitStoredDeliveries(database: Pool): Promise<void> {
  const last = await lastSagaEventId(database)
  const areStored = async () => {
    const { rowCount } = await database.pool.query(
      "SELECT FROM webhook_cursors WHERE name = 'sagas' AND position >= $1",
      [last],
    )
    return rowCount !== 0
  }
  await waitUntil(
    areStored,
    deliveriesMsMax,
    'the worker of a cell does not process saga events for webhooks',
  )
}

/**
 * Has the worker start no further delivery to webhooks of a tenant, and waits for those under way. Nothing about these webhooks
 * changes afterwards.
 *
 * @param leaseMs the time that a worker has for an attempt
 */
export async function stopWebhooks(database: Pool, tenant: string, leaseMs: number): Promise<void> {
  const { pool } = database
  await pool.query(
    `UPDATE webhooks SET enabled = false, disabled_reason = $2, disabled_at = now() WHERE tenant = $1 AND enabled`,
    [tenant, movingReason],
  )
  const isQuiet = async () => {
    // Whoever takes a delivery makes it due again after the lease; its result sets another time.
    const { rowCount } = await pool.query(
      `SELECT FROM webhook_deliveries d JOIN webhooks w ON w.id = d.webhook_id
        WHERE w.tenant = $1 AND d.state = 'pending' AND d.next_attempt_at > now()
          AND d.next_attempt_at = d.attempted_at + $2 * interval '1 ms' LIMIT 1`,
      [tenant, leaseMs],
    )
    return rowCount === 0
  }
  await waitUntil(isQuiet, leaseMs * 2, 'deliveries to webhooks do not end')
  await fenceTenant(database, tenant, ['webhooks'])
}

/** Undoes {@link stopWebhooks}, after the fence is gone. */
export async function resumeWebhooks({ pool }: Pool, tenant: string): Promise<void> {
  await pool.query(
    `UPDATE webhooks SET enabled = true, disabled_reason = NULL, disabled_at = NULL
      WHERE tenant = $1 AND disabled_reason = $2`,
    [tenant, movingReason],
  )
}
