import {
  type AuditAuthor,
  type AuditedChange,
  inPoolTransaction,
  type Pooled,
  type Rows,
  recordAuditEvent,
} from '@switchyard/db'
import { lockName, secondsLong } from '@switchyard/db/sql'
import { conflict, notFound } from '@switchyard/domain'
import {
  afterCommandEvent,
  type CommandEvent,
  type CommandKind,
  type CommandState,
  commandStates,
  openCommandStates,
} from '@switchyard/domain/saga'
import { readRows } from '../limited-database.js'

export interface SagaCommand {
  tenant: string
  id: string
  sagaId: string
  serviceName: string
  kind: CommandKind
  activityId: string | null
  reason: string
  batchId: string | null
  state: CommandState
  authorId: number
  authorName: string
  createdAt: Date
  expiresAt: Date
  /** The time at which it expires or its lease ends; null when neither can happen. */
  dueAt: Date | null
  /** Username of the person who approved or denied it. */
  decidedBy: string | null
  decidedAt: Date | null
  worker: string | null
  deliveries: number
  message: string | null
  endedAt: Date | null
}

export const commandColumns = `c.tenant, c.id, c.saga_id AS "sagaId", c.service_name AS "serviceName", c.kind,
  c.activity_id AS "activityId", c.reason, c.batch_id AS "batchId", c.state, c.author_id AS "authorId",
  c.author_name AS "authorName", c.created_at AS "createdAt", c.expires_at AS "expiresAt", c.due_at AS "dueAt",
  c.decided_by AS "decidedBy", c.decided_at AS "decidedAt", c.worker, c.deliveries, c.message,
  c.ended_at AS "endedAt"`

const textOfStates = (states: readonly CommandState[]): string =>
  states.map((state) => `'${state}'`).join(', ')

/** The SQL condition that a command has not ended. */
export const isOpen = `c.state IN (${textOfStates(openCommandStates)})`

/**
 * Returns the SQL of an event: the states that it changes, from the table of states in the domain.
 *
 * @param dueAt SQL for the time at which the command changes by itself, if it is open afterwards
 */
export function changeBy(event: CommandEvent, dueAt = 'expires_at') {
  const changes = commandStates.flatMap((state) =>
    [false, true].flatMap((doubtful) => {
      const after = afterCommandEvent({ state, doubtful }, event)
      return after ? [{ given: `(state = '${state}' AND doubtful = ${doubtful})`, after }] : []
    }),
  )
  const cases = (value: (after: (typeof changes)[number]['after']) => string) =>
    `CASE ${changes.map(({ given, after }) => `WHEN ${given} THEN ${value(after)}`).join(' ')} END`
  const open: readonly string[] = openCommandStates
  return {
    /** Whether the event is possible. */
    isPossible: `(${changes.map(({ given }) => given).join(' OR ')})`,
    assignments: `state = ${cases(({ state }) => `'${state}'`)}, doubtful = ${cases(({ doubtful }) => `${doubtful}`)},
      ended_at = ${cases(({ state }) => (open.includes(state) ? 'NULL::timestamptz' : 'now()'))},
      due_at = ${cases(({ state }) => (open.includes(state) ? dueAt : 'NULL::timestamptz'))}`,
  }
}

const timeUp = changeBy('time_up')

const expiredMax = 1000

const expire = {
  name: 'saga-commands-expire',
  text: `UPDATE saga_commands c SET ${timeUp.assignments}
    FROM (SELECT tenant, id FROM saga_commands WHERE due_at <= now() ORDER BY due_at LIMIT ${expiredMax}
      FOR UPDATE SKIP LOCKED) due
    WHERE c.tenant = due.tenant AND c.id = due.id AND c.due_at <= now() AND ${timeUp.isPossible}`,
}

/** Most batches that one call ends. The next call ends the others. */
const expiryRoundsMax = 20

/**
 * Ends expired commands and leases. Whatever shows or counts the states of commands calls it first; leasing
 * checks the times of the commands itself.
 */
export async function expireCommands({ pool }: Pooled): Promise<void> {
  for (let round = 0; round < expiryRoundsMax; round += 1) {
    const { rowCount } = await pool.query(expire)
    if ((rowCount ?? 0) < expiredMax) return
  }
}

export interface NewCommands {
  tenant: string
  kind: CommandKind
  reason: string
  state: 'waiting_for_approval' | 'pending'
  expiresInSeconds: number
  batchId: string | null
  sagas: readonly { sagaId: string; serviceName: string; activityId: string | null }[]
}

export interface Operator {
  id: number
  username: string
  audit: AuditAuthor
}

/**
 * Stores commands for sagas without an open one, and returns the stored commands.
 *
 * @throws DomainError conflict when the operator would have more than `openMax` open commands
 */
export const insertCommands = (
  { pool }: Pooled,
  { tenant, kind, reason, state, expiresInSeconds, batchId, sagas }: NewCommands,
  operator: Operator,
  openMax: number,
): Promise<SagaCommand[]> =>
  inPoolTransaction(pool, async (client) => {
    // Requests of one operator run one by one, so that the count is exact.
    await lockName(client, `switchyard.saga_commands ${operator.id}`)
    const { rows } = await client.query<SagaCommand>(
      `INSERT INTO saga_commands AS c (tenant, saga_id, service_name, activity_id, kind, reason, state, batch_id,
         author_id, author_name, expires_at, due_at)
       SELECT $1, given.saga_id, given.service_name, given.activity_id, $5, $6, $7, $8, $9, $10, until.time, until.time
       FROM unnest($2::text[], $3::text[], $4::text[]) AS given(saga_id, service_name, activity_id),
         (SELECT now() + ${secondsLong('$11')} AS time) until
       ORDER BY given.saga_id
       ON CONFLICT (tenant, saga_id) WHERE state IN (${textOfStates(openCommandStates)}) DO NOTHING
       RETURNING ${commandColumns}`,
      [
        tenant,
        sagas.map(({ sagaId }) => sagaId),
        sagas.map(({ serviceName }) => serviceName),
        sagas.map(({ activityId }) => activityId),
        kind,
        reason,
        state,
        batchId,
        operator.id,
        operator.username,
        expiresInSeconds,
      ],
    )
    const counted = await client.query<{ open: number }>(
      `SELECT count(*)::integer AS open FROM saga_commands c WHERE c.author_id = $1 AND ${isOpen}`,
      [operator.id],
    )
    if ((counted.rows[0]?.open ?? 0) > openMax)
      throw conflict(`You would have more than ${openMax} commands that have not ended`)
    await audit(client, operator.audit, `saga_command_${kind}`, rows)
    return rows
  })

type Client = Parameters<typeof recordAuditEvent>[0]

const audit = (client: Client, author: AuditAuthor, eventName: string, commands: readonly SagaCommand[]) =>
  recordAuditEvent(
    client,
    author,
    ...commands.map(
      ({ id, tenant, sagaId, kind, activityId, reason }): AuditedChange => ({
        eventName,
        entityType: 'SagaCommand',
        entityId: id,
        details: { tenant, saga_id: sagaId, kind, activity_id: activityId, reason },
      }),
    ),
  )

export interface CommandFilter {
  tenant: string
  sagaId?: string | undefined
  state?: CommandState | undefined
  serviceName?: string | undefined
  batchId?: string | undefined
}

/** Returns a page of commands, newest first, and their total number. */
export async function listCommands(
  database: Pooled,
  { tenant, sagaId, state, serviceName, batchId }: CommandFilter,
  { skip, take }: Rows,
): Promise<{ commands: SagaCommand[]; total: number }> {
  await expireCommands(database)
  const where = `c.tenant = $1 AND ($2::text IS NULL OR c.saga_id = $2) AND ($3::text IS NULL OR c.state = $3)
    AND ($4::text IS NULL OR c.service_name = $4) AND ($5::uuid IS NULL OR c.batch_id = $5)`
  const values = [tenant, sagaId ?? null, state ?? null, serviceName ?? null, batchId ?? null]
  const [commands, [counted]] = await Promise.all([
    readRows<SagaCommand>(database, {
      text: `SELECT ${commandColumns} FROM saga_commands c WHERE ${where}
        ORDER BY c.created_at DESC, c.id OFFSET $6 LIMIT $7`,
      values: [...values, skip, take],
    }),
    readRows<{ total: number }>(database, {
      text: `SELECT count(*)::integer AS total FROM saga_commands c WHERE ${where}`,
      values,
    }),
  ])
  return { commands, total: counted?.total ?? 0 }
}

export interface CommandKey {
  tenant: string
  id: string
}

/** @throws DomainError not-found */
export async function getCommand(database: Pooled, { tenant, id }: CommandKey): Promise<SagaCommand> {
  await expireCommands(database)
  const [command] = await readRows<SagaCommand>(database, {
    text: `SELECT ${commandColumns} FROM saga_commands c WHERE c.tenant = $1 AND c.id = $2`,
    values: [tenant, id],
  })
  if (!command) throw notFound('Command')
  return command
}

/** A decision of a person about a command. */
export type Decision = 'approve' | 'deny' | 'withdraw' | 'deliver_again'

/** A redelivered command gets a new expiry. */
const expiresAt = `COALESCE(now() + ${secondsLong('$5')}, c.expires_at)`

const decisions = {
  approve: { ...changeBy('approve', expiresAt), eventName: 'saga_command_approved' },
  deny: { ...changeBy('deny', expiresAt), eventName: 'saga_command_denied' },
  withdraw: { ...changeBy('withdraw', expiresAt), eventName: 'saga_command_withdrawn' },
  deliver_again: { ...changeBy('deliver_again', expiresAt), eventName: 'saga_command_delivered_again' },
} as const satisfies Record<Decision, object>

type DecidedState = Pick<(typeof decisions)[Decision], 'isPossible' | 'assignments'>

/** @param which SQL condition on the commands, with `$2` */
const decisionSql = ({ isPossible, assignments }: DecidedState, which: string) =>
  `UPDATE saga_commands c SET ${assignments}, expires_at = ${expiresAt},
     decided_by = CASE WHEN $3 THEN $4 ELSE c.decided_by END,
     decided_at = CASE WHEN $3 THEN now() ELSE c.decided_at END
   WHERE c.tenant = $1 AND ${which} AND (c.due_at IS NULL OR c.due_at > now()) AND ${isPossible}
   RETURNING ${commandColumns}`

const isApproval = (decision: Decision) => decision === 'approve' || decision === 'deny'

/**
 * Changes the state of a command by the decision of a person; null when its state does not allow it.
 *
 * @param expiresInSeconds time after which the command is no longer delivered; null: unchanged
 */
export const changeByDecision = (
  { pool }: Pooled,
  { tenant, id }: CommandKey,
  decision: Decision,
  operator: Operator,
  expiresInSeconds: number | null = null,
): Promise<SagaCommand | null> =>
  inPoolTransaction(pool, async (client) => {
    const { rows } = await client.query<SagaCommand>(decisionSql(decisions[decision], 'c.id = $2'), [
      tenant,
      id,
      isApproval(decision),
      operator.username,
      expiresInSeconds,
    ])
    await audit(client, operator.audit, decisions[decision].eventName, rows)
    return rows[0] ?? null
  })

/** The key of a batch: commands that were requested together. */
export interface BatchKey {
  tenant: string
  batchId: string
}

/** Returns the number of commands in a batch, and their author; null when there is no such batch. */
export async function findBatch(
  database: Pooled,
  { tenant, batchId }: BatchKey,
): Promise<{ size: number; authorId: number } | null> {
  const [batch] = await readRows<{ size: number; authorId: number }>(database, {
    text: `SELECT count(*)::integer AS size, min(c.author_id) AS "authorId" FROM saga_commands c
      WHERE c.tenant = $1 AND c.batch_id = $2`,
    values: [tenant, batchId],
  })
  return batch && batch.size > 0 ? batch : null
}

const batchEvents = {
  approve: 'saga_command_batch_approved',
  deny: 'saga_command_batch_denied',
  withdraw: 'saga_command_batch_withdrawn',
} as const

export type BatchDecision = keyof typeof batchEvents

/**
 * Changes the states of those commands of a batch that allow it, and returns these commands. The audit log
 * gets one entry for all of them.
 */
export const changeBatchByDecision = (
  { pool }: Pooled,
  { tenant, batchId }: BatchKey,
  decision: BatchDecision,
  operator: Operator,
): Promise<SagaCommand[]> =>
  inPoolTransaction(pool, async (client) => {
    const { rows } = await client.query<SagaCommand>(decisionSql(decisions[decision], 'c.batch_id = $2'), [
      tenant,
      batchId,
      isApproval(decision),
      operator.username,
      null,
    ])
    const details = { tenant, kind: rows[0]?.kind ?? '', commands: rows.length }
    if (rows.length > 0)
      await recordAuditEvent(client, operator.audit, {
        eventName: batchEvents[decision],
        entityType: 'SagaCommandBatch',
        entityId: batchId,
        details,
      })
    return rows
  })
