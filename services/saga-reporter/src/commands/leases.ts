import { statement } from '@switchyard/db'
import { type Readable, readRows } from '@switchyard/saga-store'
import { changeBy, commandColumns, type SagaCommand } from './store.js'

export interface CommandDemand {
  tenant: string
  serviceName: string
}

/** The services that have commands to be leased. */
export const listDemands = (database: Readable): Promise<CommandDemand[]> =>
  readRows<CommandDemand>(database, {
    text: `SELECT DISTINCT tenant, service_name AS "serviceName" FROM saga_commands
      WHERE state = 'pending' AND due_at > now()`,
    values: [],
    name: 'saga-commands-demands',
  })

export interface WantedCommands extends CommandDemand {
  take: number
  leaseSeconds: number
  /** The caller's own name. */
  worker: string
}

export interface CommandLease extends SagaCommand {
  leaseToken: string
  dueAt: Date
}

const leasing = changeBy('lease', "now() + $5::double precision * interval '1 second'")

const lease = statement(
  `UPDATE saga_commands c SET ${leasing.assignments},
      lease_token = gen_random_uuid(), worker = $4, deliveries = c.deliveries + 1
    FROM (SELECT tenant, id FROM saga_commands
      WHERE tenant = $1 AND service_name = $2 AND state = 'pending' AND due_at > now()
      ORDER BY created_at, id LIMIT $3 FOR UPDATE SKIP LOCKED) free
    WHERE c.tenant = free.tenant AND c.id = free.id AND ${leasing.isPossible}
    RETURNING ${commandColumns}, c.lease_token AS "leaseToken"`,
  'saga-commands-lease',
)

/** Leases pending commands of a service, the oldest first, each to one caller in any process. Times are the database's. */
export async function leasePending({ pool }: Readable, wanted: WantedCommands): Promise<CommandLease[]> {
  const values = [wanted.tenant, wanted.serviceName, wanted.take, wanted.worker, wanted.leaseSeconds]
  const { rows } = await pool.query<CommandLease>({ ...lease, values })
  return rows.sort((a, b) => a.createdAt.getTime() - b.createdAt.getTime())
}

/** A lease, as its holder names it. */
export interface CommandLeaseKey {
  token: string
  /** The only tenants and the only service whose commands are found; null: every one. */
  tenants: readonly string[] | null
  service: string | null
}

export type CommandAnswer = 'succeed' | 'fail' | 'refuse' | 'return'

const ownLease =
  'c.lease_token = $1 AND ($2::text[] IS NULL OR c.tenant = ANY ($2)) AND ($3::text IS NULL OR c.service_name = $3)'

const answering = (event: CommandAnswer) => {
  const { isPossible, assignments } = changeBy(event)
  return statement(
    `UPDATE saga_commands c SET ${assignments}, message = $4
      WHERE ${ownLease} AND ${isPossible} RETURNING c.state`,
    `saga-commands-${event}`,
  )
}

const answered = {
  succeed: { ...answering('succeed'), state: 'succeeded' },
  fail: { ...answering('fail'), state: 'failed' },
  refuse: { ...answering('refuse'), state: 'refused' },
} as const

const giveBack = changeBy('return')

/** A lease that has ended cannot be given back: then it is unknown what was done. */
const returning = statement(
  `UPDATE saga_commands c SET ${giveBack.assignments}, lease_token = NULL, deliveries = c.deliveries - 1
    WHERE ${ownLease} AND c.due_at > now() AND ${giveBack.isPossible}`,
  'saga-commands-return',
)

/** Stores what the holder of a lease answers; false when the command has another answer or another holder. */
export async function answerCommand(
  { pool }: Readable,
  { token, tenants, service }: CommandLeaseKey,
  answer: CommandAnswer,
  message: string | null,
): Promise<boolean> {
  const key = [token, tenants, service]
  if (answer === 'return') {
    const { rowCount } = await pool.query({ ...returning, values: key })
    return rowCount === 1
  }
  const { state, ...write } = answered[answer]
  const { rowCount } = await pool.query({ ...write, values: [...key, message] })
  if (rowCount === 1) return true
  // The first answer was stored, and the caller did not learn it.
  const repeated = await pool.query({
    text: `SELECT FROM saga_commands c WHERE ${ownLease} AND c.state = $4`,
    values: [...key, state],
  })
  return repeated.rowCount === 1
}
