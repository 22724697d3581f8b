import type { Pooled } from '@switchyard/db'
import { leaseEnd, leaseRows } from '@switchyard/db/sql'
import { readRows } from '../limited-database.js'
import { changeBy, commandColumns, type SagaCommand } from './store.js'

export interface CommandDemand {
  tenant: string
  serviceName: string
}

/** A command that can be leased. */
export interface PendingCommand extends CommandDemand {
  id: string
}

/** Most ids of commands that a call may exclude. */
export const exceptIdsMax = 1000

/**
 * Lists pending commands of these services: for each service one more than a call may exclude, so that each
 * call finds one.
 */
export const listPending = (
  database: Pooled,
  services: readonly CommandDemand[],
): Promise<PendingCommand[]> =>
  readRows<PendingCommand>(database, {
    text: `SELECT c.tenant, c.service_name AS "serviceName", c.id
      FROM unnest($1::text[], $2::text[]) AS wanted(tenant, service_name)
      CROSS JOIN LATERAL (SELECT tenant, service_name, id FROM saga_commands
        WHERE tenant = wanted.tenant AND service_name = wanted.service_name AND state = 'pending' AND due_at > now()
        LIMIT $3) c`,
    values: [
      services.map(({ tenant }) => tenant),
      services.map(({ serviceName }) => serviceName),
      exceptIdsMax + 1,
    ],
    name: 'saga-commands-pending',
  })

export interface WantedCommands extends CommandDemand {
  take: number
  leaseSeconds: number
  /** Ids of commands that the caller excludes. */
  exceptIds: ReadonlySet<string>
  /** Name that the caller gives itself. */
  worker: string
}

export interface CommandLease extends SagaCommand {
  leaseToken: string
  dueAt: Date
}

const leasing = changeBy('lease', leaseEnd('$2'))

const lease = {
  name: 'saga-commands-lease',
  text: leaseRows({
    table: 'saga_commands',
    keys: ['tenant', 'id'],
    free: `leased.tenant = $3 AND leased.service_name = $4 AND leased.state = 'pending' AND leased.due_at > now()
      AND leased.id <> ALL ($5::uuid[])`,
    order: 'leased.created_at, leased.id',
    set: `${leasing.assignments},
      lease_token = gen_random_uuid(), worker = $6, deliveries = leased.deliveries + 1, message = NULL`,
    select: `SELECT ${commandColumns}, c.lease_token AS "leaseToken" FROM leased c`,
  }),
}

/** Leases pending commands of a service, oldest first, each to only one caller across all processes. */
export async function leasePending({ pool }: Pooled, wanted: WantedCommands): Promise<CommandLease[]> {
  const { tenant, serviceName, take, worker, leaseSeconds, exceptIds } = wanted
  const values = [take, leaseSeconds * 1000, tenant, serviceName, [...exceptIds], worker]
  const { rows } = await pool.query<CommandLease>({ ...lease, values })
  return rows.sort((a, b) => a.createdAt.getTime() - b.createdAt.getTime())
}

/** A lease, as its holder identifies it. */
export interface CommandLeaseKey {
  token: string
  /** The only tenants and the only service whose commands are visible; null: all. */
  tenants: readonly string[] | null
  service: string | null
}

export type CommandAnswer = 'succeed' | 'fail' | 'refuse'

const isVisible = '($2::text[] IS NULL OR c.tenant = ANY ($2)) AND ($3::text IS NULL OR c.service_name = $3)'
const ownLease = `c.lease_token = $1 AND ${isVisible}`

const answering = (event: CommandAnswer) => {
  const { isPossible, assignments } = changeBy(event)
  return {
    name: `saga-commands-${event}`,
    text: `UPDATE saga_commands c SET ${assignments}, message = $4
      WHERE ${ownLease} AND ${isPossible} RETURNING c.state`,
  }
}

const answered = {
  succeed: { ...answering('succeed'), state: 'succeeded' },
  fail: { ...answering('fail'), state: 'failed' },
  refuse: { ...answering('refuse'), state: 'refused' },
} as const

const giveBack = changeBy('return')

/** The message is cleared, because beside a doubtful command it would seem to say that nothing was done. */
const returning = {
  name: 'saga-commands-return',
  text: `UPDATE saga_commands c SET ${giveBack.assignments}, lease_token = NULL, deliveries = c.deliveries - 1,
      message = CASE WHEN c.doubtful THEN NULL ELSE $4 END
    WHERE c.lease_token = ANY ($1::uuid[]) AND ${isVisible} AND c.due_at > now() AND ${giveBack.isPossible}
    RETURNING c.tenant, c.service_name AS "serviceName", c.id`,
}

/**
 * Returns leased commands, so that they can be leased again. A command whose lease has ended is left out,
 * because it may have been executed.
 */
export async function returnCommands(
  { pool }: Pooled,
  tokens: readonly string[],
  { tenants, service }: Omit<CommandLeaseKey, 'token'>,
  message: string | null,
): Promise<PendingCommand[]> {
  const { rows } = await pool.query<PendingCommand>({
    ...returning,
    values: [tokens, tenants, service, message],
  })
  return rows
}

/** Stores the answer of a lease's holder; false when the command has another answer or another holder. */
export async function answerCommand(
  { pool }: Pooled,
  { token, tenants, service }: CommandLeaseKey,
  answer: CommandAnswer,
  message: string | null,
): Promise<boolean> {
  const key = [token, tenants, service]
  const { state, ...write } = answered[answer]
  const { rowCount } = await pool.query({ ...write, values: [...key, message] })
  if (rowCount === 1) return true
  // The first answer was stored, but its confirmation was lost.
  const repeated = await pool.query({
    text: `SELECT FROM saga_commands c WHERE ${ownLease} AND c.state = $4`,
    values: [...key, state],
  })
  return repeated.rowCount === 1
}
