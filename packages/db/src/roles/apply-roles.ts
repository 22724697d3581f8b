import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto'
import pg from 'pg'
import { holdSchemaLock } from '../migrations/lock-timeout.js'
import {
  type Access,
  type DatabaseService,
  databaseServices,
  lockedWhenPurged,
  monitoringRole,
  ownerFunctions,
  roleOf,
  tableAccess,
  temporaryTables,
} from './table-access.js'

export type RolePasswords = Record<DatabaseService, string>

const privileges: Record<Access, string> = {
  write: 'SELECT, INSERT, UPDATE, DELETE',
  append: 'SELECT, INSERT',
  purge: 'SELECT, DELETE',
  'append-and-purge': 'SELECT, INSERT, DELETE',
  read: 'SELECT',
}

const duplicates = new Set(['42710', '23505'])

/**
 * Creates a role for each service or changes its password, and grants exactly the rights of `tableAccess`.
 * The schema must be up to date. The function may run again, also while services run and in several processes
 * at once.
 *
 * @param url the database, with a role that owns the schema and may create roles
 * @param passwords consist of ASCII letters, digits, `-` and `_`
 */
export async function applyRoles(url: string, passwords: RolePasswords): Promise<void> {
  await withMigrationLock(url, async (client) => {
    for (const service of databaseServices) await ensureRole(client, roleOf(service), passwords[service])
    await client.query(`BEGIN;\n${(await grants(client)).join(';\n')};\nCOMMIT`)
  })
}

/**
 * Creates the role of an exporter of PostgreSQL's metrics, or changes its password. The role reads the
 * statistics of the server and no table.
 *
 * @param url the database, with a superuser, or a role that may grant `pg_monitor`
 */
export async function applyMonitoringRole(url: string, password: string): Promise<void> {
  await withMigrationLock(url, async (client) => {
    await ensureRole(client, monitoringRole, password)
    await client.query(`GRANT pg_monitor TO ${monitoringRole}`)
  })
}

async function withMigrationLock(url: string, use: (client: pg.Client) => Promise<void>): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5000 })
  client.on('error', () => {})
  await client.connect()
  try {
    await holdSchemaLock(client)
    await use(client)
  } finally {
    await client.end()
  }
}

async function ensureRole(client: pg.Client, role: string, password: string): Promise<void> {
  const { rowCount } = await client.query('SELECT FROM pg_roles WHERE rolname = $1', [role])
  if (rowCount === 0) {
    await client.query(`CREATE ROLE ${role}`).catch((error: { code?: string }) => {
      // Roles belong to the whole server, and the setup of another database may create the role at the same
      // time.
      if (!duplicates.has(error.code ?? '')) throw error
    })
  }
  const { rows } = await client.query<Record<string, boolean>>(
    'SELECT rolsuper, rolcreatedb, rolcreaterole, rolreplication, rolbypassrls FROM pg_roles WHERE rolname = $1',
    [role],
  )
  // An owner that is not a superuser may not even name the rights that it lacks. So only the rights to revoke
  // are named.
  const taken = Object.entries(rows[0] ?? {}).flatMap(([column, has]) =>
    has ? [`NO${column.slice('rol'.length)}`] : [],
  )
  await client.query(`ALTER ROLE ${role} WITH LOGIN ${taken.join(' ')} PASSWORD '${scramVerifier(password)}'`)
}

/** Returns statements that revoke all rights and grant those of the lists. */
async function grants(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ database: string; partitions: string[] }>(
    `SELECT quote_ident(current_database()) AS database, ARRAY(SELECT quote_ident(c.relname) FROM pg_inherits i
       JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = 'saga_events'::regclass ORDER BY 1) AS partitions`,
  )
  const { database = '', partitions = [] } = rows[0] ?? {}
  const sequences = await ownedSequences(client)
  const roles = databaseServices.map(roleOf).join(', ')
  return [
    `REVOKE CREATE ON SCHEMA public FROM PUBLIC`,
    `REVOKE TEMPORARY, CREATE ON DATABASE ${database} FROM PUBLIC, ${roles}`,
    `GRANT TEMPORARY ON DATABASE ${database} TO ${temporaryTables.map(roleOf).join(', ')}`,
    `REVOKE ALL ON ALL TABLES IN SCHEMA public FROM PUBLIC, ${roles}`,
    `REVOKE ALL ON ALL SEQUENCES IN SCHEMA public FROM PUBLIC, ${roles}`,
    `GRANT USAGE ON SCHEMA public TO ${roles}`,
    ...Object.entries(tableAccess).flatMap(([table, services]) =>
      Object.entries(services).flatMap(([service, access]) =>
        tableGrants(table, roleOf(service as DatabaseService), access, sequences.get(table) ?? []),
      ),
    ),
    // The retention job reads one partition at a time.
    ...partitions.map((partition) => `GRANT SELECT, DELETE ON ${partition} TO ${roleOf('worker')}`),
    ...Object.entries(ownerFunctions).flatMap(([name, services]) => [
      `REVOKE ALL ON FUNCTION ${name} FROM PUBLIC, ${roles}`,
      `GRANT EXECUTE ON FUNCTION ${name} TO ${services.map(roleOf).join(', ')}`,
    ]),
  ]
}

function tableGrants(table: string, role: string, access: Access, sequences: string[]): string[] {
  const adds = privileges[access].includes('INSERT')
  const lock = access === 'purge' && lockedWhenPurged[table]
  return [
    `GRANT ${privileges[access]} ON ${table} TO ${role}`,
    ...(lock ? [`GRANT UPDATE (${lock}) ON ${table} TO ${role}`] : []),
    // Readers of the saga event log read the last value of a sequence. Without this right they would read
    // null instead of an error.
    ...sequences.map((sequence) => `GRANT ${adds ? 'USAGE, SELECT' : 'SELECT'} ON ${sequence} TO ${role}`),
  ]
}

/** Returns the sequences of the columns of each table. */
async function ownedSequences(client: pg.Client): Promise<Map<string, string[]>> {
  const { rows } = await client.query<{ table: string; sequences: string[] }>(
    `SELECT d.refobjid::regclass::text AS table, array_agg(s.oid::regclass::text) AS sequences FROM pg_class s
     JOIN pg_depend d ON d.objid = s.oid AND d.classid = 'pg_class'::regclass AND d.deptype IN ('a', 'i')
     WHERE s.relkind = 'S' AND s.relnamespace = 'public'::regnamespace GROUP BY 1`,
  )
  return new Map(rows.map(({ table, sequences }) => [table, sequences]))
}

const iterations = 4096

/**
 * Returns the verifier that PostgreSQL stores for a password (`SCRAM-SHA-256$…`, RFC 5803). It is sent
 * instead of the password, because PostgreSQL could write the password to its log.
 *
 * @param password consists of ASCII characters
 */
function scramVerifier(password: string): string {
  const salt = randomBytes(16)
  const salted = pbkdf2Sync(password, salt, iterations, 32, 'sha256')
  const key = (name: string) => createHmac('sha256', salted).update(name).digest()
  const storedKey = createHash('sha256').update(key('Client Key')).digest()
  const [saltText, storedText, serverText] = [salt, storedKey, key('Server Key')].map((part) =>
    part.toString('base64'),
  )
  return `SCRAM-SHA-256$${iterations}:${saltText}$${storedText}:${serverText}`
}

/**
 * Derives a password for each role from one secret. A password reveals neither another password nor the
 * secret.
 */
export const derivePasswords = (secret: string): RolePasswords =>
  Object.fromEntries(
    databaseServices.map((service) => [
      service,
      createHmac('sha256', secret).update(roleOf(service)).digest('base64url'),
    ]),
  ) as RolePasswords

/** Returns the URL of the same database for the role of a service. */
export function serviceUrl(url: string, service: DatabaseService, password: string): string {
  const changed = new URL(url)
  changed.username = roleOf(service)
  changed.password = password
  return changed.href
}
