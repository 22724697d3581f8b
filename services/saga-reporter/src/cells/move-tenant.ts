import { setTimeout as sleep } from 'node:timers/promises'
import {
  awaitToldWebhooks,
  type CellPair,
  copyTenant,
  type Database,
  deleteTenant,
  fenceTenant,
  findTenantPlace,
  hasWebhooks,
  holdsTenant,
  inPoolTransaction,
  requireNoBulkJob,
  reserveIds,
  resumeWebhooks,
  setTenantPlace,
  stopWebhooks,
  type TenantPlace,
  unfenceTenant,
} from '@switchyard/db'
import { conflict, DomainError, invalid } from '@switchyard/domain'
import { deliveryLeaseMs } from '@switchyard/webhooks'
import { defaultCell } from './cell-settings.js'
import { mapAgeMsMax } from './tenant-map.js'

/** Longer than a reporter uses what it has read of the map. */
const quietMs = mapAgeMsMax + 1_000

interface Move extends CellPair {
  tenant: string
  from: string
  to: string
}

/**
 * Moves a tenant, with all its sagas and webhooks, to another cell. Until it is there nobody takes its events. When it was
 * interrupted, running it again goes on; running it with the cell that the tenant leaves gives the move up, unless all is copied.
 *
 * @param databases of the cells by their names, for the owner of the schema; that of `default` has the map
 * @throws DomainError invalid for a cell without a database; conflict when the tenant cannot move now
 */
export async function moveTenant(
  databases: ReadonlyMap<string, Database>,
  tenant: string,
  to: string,
): Promise<void> {
  const directory = databaseOf(databases, defaultCell)
  await inPoolTransaction(directory.pool, async (client) => {
    const lock = `SELECT pg_try_advisory_xact_lock(hashtextextended('switchyard.saga_tenant_move', 0)) AS "isFree"`
    const { rows } = await client.query<{ isFree: boolean }>(lock)
    if (!rows[0]?.isFree) throw conflict('another tenant is being moved')
    await moveAlone(databases, tenant, to)
  })
}

async function moveAlone(databases: ReadonlyMap<string, Database>, tenant: string, to: string) {
  const directory = databaseOf(databases, defaultCell)
  const known = await findTenantPlace(directory, tenant)
  const place = known ?? { cell: defaultCell, movesFrom: null, movesTo: null, sinceMs: 0 }
  const from = place.movesFrom ?? place.cell ?? defaultCell
  const move = {
    ...{ tenant, from, to: place.movesTo ?? to },
    source: databaseOf(databases, from),
    destination: databaseOf(databases, place.movesTo ?? to),
  }
  if (from !== move.to && (await idOf(move.source)) === (await idOf(move.destination)))
    throw conflict('both cells were given one database: check SAGA_CELL_DATABASE_URLS')
  if (place.movesTo !== null && place.movesTo !== to) return giveUp(directory, move, to)
  if (place.cell === to && place.movesTo === null)
    throw conflict(`the tenant belongs to the cell ${to} already`)
  if (place.cell !== to) await bring(directory, move, place)
  await deleteTenant(move.source, tenant)
  await setTenantPlace(directory, tenant, { cell: to, movesFrom: null, movesTo: null })
}

/** Copies the tenant and leads reporters to the copy. */
async function bring(
  directory: Database,
  move: Move,
  place: TenantPlace & { sinceMs: number },
): Promise<void> {
  const { tenant, from, to, source, destination } = move
  const moves = { movesFrom: from, movesTo: to }
  if (place.movesTo === null) {
    if (await holdsTenant(destination, tenant))
      throw conflict(`the cell ${to} has sagas or webhooks of the tenant`)
    await requireNoBulkJob(source, tenant)
    await setTenantPlace(directory, tenant, { cell: null, ...moves })
  }
  await sleep(place.movesTo === null ? quietMs : Math.max(0, quietMs - place.sinceMs))
  // All is copied at once or nothing.
  if (!(await holdsTenant(destination, tenant))) {
    await copy(move).catch(async (error: unknown) => {
      if (error instanceof DomainError) await giveBack(directory, move)
      throw error
    })
  }
  await setTenantPlace(directory, tenant, { cell: to, ...moves })
}

async function copy({ tenant, source, destination }: Move): Promise<void> {
  await unfenceTenant(destination, tenant)
  await fenceTenant(source, tenant)
  await requireNoBulkJob(source, tenant)
  const shifts = await reserveIds({ source, destination }, tenant)
  if (await hasWebhooks(source, tenant)) {
    await Promise.all([awaitToldWebhooks(source), awaitToldWebhooks(destination)])
    await stopWebhooks(source, tenant, deliveryLeaseMs)
  }
  await copyTenant({ source, destination }, tenant, shifts)
}

async function giveUp(directory: Database, move: Move, to: string): Promise<void> {
  const { tenant, destination, from } = move
  if (to !== from || (await holdsTenant(destination, tenant)))
    throw conflict(`the tenant is moving to the cell ${move.to}: run this with it first`)
  await giveBack(directory, move)
}

async function giveBack(directory: Database, { tenant, source, from }: Move): Promise<void> {
  await unfenceTenant(source, tenant)
  await resumeWebhooks(source, tenant)
  await setTenantPlace(directory, tenant, { cell: from, movesFrom: null, movesTo: null })
}

/** Tells databases apart whatever their URLs say. Rows of a tenant that is its own copy would be deleted. */
async function idOf({ pool }: Database): Promise<string | undefined> {
  const { rows } = await pool.query<{ id: string }>(
    `SELECT concat_ws(' ', system_identifier, oid) AS id
       FROM pg_control_system(), pg_database WHERE datname = current_database()`,
  )
  return rows[0]?.id
}

function databaseOf(databases: ReadonlyMap<string, Database>, cell: string): Database {
  const database = databases.get(cell)
  if (!database) throw invalid(`no database of the cell ${cell} is given`)
  return database
}
