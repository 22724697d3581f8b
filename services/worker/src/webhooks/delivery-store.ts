import type { Pooled } from '@switchyard/db'
import { type RequestSecretsRow, requestSecretColumns } from '@switchyard/webhooks'

/** A delivery that this process has claimed and sends now. */
export interface ClaimedDelivery extends RequestSecretsRow {
  id: string
  webhookId: number
  scope: 'saga' | 'project'
  url: string
  host: string
  /** Whether the certificate of the receiver is checked. */
  verifyTls: boolean
  event: string
  payload: string
  requestHeaders: Record<string, string>
  /** Number of attempts, including the current one. */
  attempts: number
  /** Time of the claim. */
  attemptedAt: Date
}

export interface AttemptRecord {
  state: 'pending' | 'succeeded' | 'failed'
  /** Time until the next attempt; null unless pending. */
  retryDelayMs: number | null
  durationMs: number
  status: number | null
  headers: Record<string, string>
  body: string
  error: string | null
}

/** The recent failures of a webhook. */
export interface WebhookHealth {
  failingSince: Date | null
  consecutiveFailures: number
}

/** Lists hosts in random order, so that each has the same chance when there are more hosts than turns. */
export async function listHostsWithDueDeliveries({ pool }: Pooled): Promise<string[]> {
  const { rows } = await pool.query<{ host: string }>(
    `SELECT w.host FROM webhooks w WHERE w.enabled AND EXISTS (
       SELECT 1 FROM webhook_deliveries d
       WHERE d.webhook_id = w.id AND d.state = 'pending' AND d.next_attempt_at <= now())
     GROUP BY w.host ORDER BY random()`,
  )
  return rows.map(({ host }) => host)
}

// `leaseRows` is not used, because it would sort all deliveries to a host. An index finds the first of each
// webhook. The webhook with the fewest requests under way is served, so that none waits for the many or slow
// deliveries of another.
const claim = {
  name: 'claim-webhook-delivery',
  text: `UPDATE webhook_deliveries d
    SET attempts = d.attempts + 1, attempted_at = now(), next_attempt_at = now() + $2 * interval '1 ms'
    FROM webhooks w
    WHERE w.id = d.webhook_id AND (d.webhook_id, d.id) = (
      SELECT due.webhook_id, due.id FROM webhooks of_host
      CROSS JOIN LATERAL (
        SELECT webhook_id, id, next_attempt_at FROM webhook_deliveries
        WHERE webhook_id = of_host.id AND state = 'pending' AND next_attempt_at <= now()
        ORDER BY next_attempt_at LIMIT 1 FOR UPDATE SKIP LOCKED
      ) due
      WHERE of_host.host = $1 AND of_host.enabled AND of_host.id <> ALL ($4::integer[])
      ORDER BY cardinality(array_positions($3::integer[], of_host.id)), random() LIMIT 1)
    RETURNING d.id, d.webhook_id AS "webhookId", w.scope, w.url, w.host, w.verify_tls AS "verifyTls", d.event,
      d.payload, d.request_headers AS "requestHeaders", d.attempts, d.attempted_at AS "attemptedAt",
      ${requestSecretColumns}`,
}

export interface HostTurn {
  host: string
  /** Ids of the webhooks of the requests under way, one for each request. */
  busy: readonly number[]
  /** Ids of webhooks that are left out. */
  silent: readonly number[]
}

/**
 * Claims a delivery to a host: of one of its webhooks, the delivery that has been due for the longest time.
 * It becomes due again after `leaseMs`, when the process has not recorded a result.
 *
 * @returns null when no delivery is due
 */
export async function claimDelivery(
  { pool }: Pooled,
  { host, busy, silent }: HostTurn,
  leaseMs: number,
): Promise<ClaimedDelivery | null> {
  const { rows } = await pool.query<ClaimedDelivery>({ ...claim, values: [host, leaseMs, busy, silent] })
  return rows[0] ?? null
}

// A redelivery that was requested meanwhile, or a later attempt, is not this attempt, and stays unchanged.
const recordDelivery = `recorded AS (
  UPDATE webhook_deliveries SET state = $3, next_attempt_at = now() + $4 * interval '1 ms', duration_ms = $5,
    response_status = $6, response_headers = $7, response_body = $8, error = $9
  WHERE webhook_id = $1 AND id = $2 AND state = 'pending' AND attempts = $10 AND attempted_at = $11
)`

const record = {
  name: 'record-webhook-attempt',
  text: `WITH ${recordDelivery}
    UPDATE webhooks SET
      failing_since = CASE WHEN $3 = 'succeeded' THEN NULL ELSE COALESCE(failing_since, now()) END,
      consecutive_failures = CASE WHEN $3 = 'succeeded' THEN 0 ELSE consecutive_failures + 1 END
    WHERE id = $1
    RETURNING failing_since AS "failingSince", consecutive_failures AS "consecutiveFailures"`,
}

/**
 * Records the result of an attempt.
 *
 * @returns null when the webhook was deleted
 */
export async function recordAttempt(
  { pool }: Pooled,
  { webhookId, id, attempts, attemptedAt }: ClaimedDelivery,
  attempt: AttemptRecord,
): Promise<WebhookHealth | null> {
  const { state, retryDelayMs, durationMs, status, headers, body, error } = attempt
  const { rows } = await pool.query<WebhookHealth>({
    ...record,
    values: [
      webhookId,
      id,
      state,
      retryDelayMs,
      durationMs,
      status,
      JSON.stringify(headers),
      body,
      error,
      attempts,
      attemptedAt,
    ],
  })
  return rows[0] ?? null
}

/** Postpones the pending deliveries of a webhook, because its receiver has asked for a pause. */
export async function postponeDeliveries(
  { pool }: Pooled,
  webhookId: number,
  pauseMs: number,
): Promise<void> {
  await pool.query(
    `UPDATE webhook_deliveries SET next_attempt_at = now() + $2 * interval '1 ms'
     WHERE webhook_id = $1 AND state = 'pending' AND next_attempt_at < now() + $2 * interval '1 ms'`,
    [webhookId, pauseMs],
  )
}

/** Disables a webhook. Its pending deliveries wait until it is enabled again. */
export async function disableWebhook({ pool }: Pooled, id: number, reason: string): Promise<void> {
  await pool.query(
    `UPDATE webhooks SET enabled = false, disabled_reason = $2, disabled_at = now(), updated_at = now()
     WHERE id = $1 AND enabled`,
    [id, reason],
  )
}

/**
 * Deletes deliveries created before this time, at most `rowsMax`.
 *
 * @returns number of deleted deliveries
 */
export async function deleteDeliveriesBefore(
  { pool }: Pooled,
  before: Date,
  rowsMax: number,
): Promise<number> {
  const { rowCount } = await pool.query(
    `DELETE FROM webhook_deliveries d USING (
       SELECT webhook_id, id FROM webhook_deliveries WHERE created_at < $1 ORDER BY created_at LIMIT $2
     ) old WHERE d.webhook_id = old.webhook_id AND d.id = old.id`,
    [before, rowsMax],
  )
  return rowCount ?? 0
}
