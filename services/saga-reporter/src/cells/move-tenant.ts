import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  awaitStoredDeliveries,
  type CellPair,
  copyTenant,
  type Database,
  deleteTenant,
  fenceTenant,
  findTenantPlace,
  forgetCopy,
  hasWebhooks,
  holdsTenant,
  inPoolTransaction,
  isCopied,
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

/** Every reporter has read the map again, or stopped using it, after this time. */
const quietMs = mapAgeMsMax + 1_000

interface Move extends CellPair {
  tenant: string
  from: string
  to: string
  moveId: string
}

/**
 * Moves a tenant, with all its sagas and webhooks, to another cell. Until the copy is complete, every reporter refuses the
 * tenant's events with UNAVAILABLE. A second run with the same cell continues an interrupted move; a run with the cell that the
 * tenant comes from cancels the move, unless the copy is complete.
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
  const place = known ?? { ...settledAt(defaultCell), sinceMs: 0 }
  const from = place.movesFrom ?? place.cell ?? defaultCell
  const move = {
    ...{ tenant, from, to: place.movesTo ?? to, moveId: place.moveId ?? randomUUID() },
    source: databaseOf(databases, from),
    destination: databaseOf(databases, place.movesTo ?? to),
  }
  if (place.movesTo !== null && place.movesTo !== to) return cancelMove(directory, move, { place, to })
  if (place.cell === to && place.movesTo === null)
    throw conflict(`the tenant belongs to the cell ${to} already`)
  if (place.cell !== to) await copyAndSwitch(directory, move, place)
  // The run that made the copy may have had another URL for this cell.
  if (!(await isCopied(move.destination, move.moveId)))
    throw conflict(`the database of the cell ${to} does not have the copy of the tenant: check its URL`)
  await deleteTenant(move.source, tenant)
  await setTenantPlace(directory, tenant, settledAt(to))
  await forgetCopy(move.destination, move.moveId)
}

/** The place of a tenant that does not move. */
const settledAt = (cell: string): TenantPlace => ({ cell, movesFrom: null, movesTo: null, moveId: null })

/** Copies the tenant, and has the map send reporters to the copy. */
async function copyAndSwitch(
  directory: Database,
  move: Move,
  place: TenantPlace & { sinceMs: number },
): Promise<void> {
  const { tenant, from, to, moveId, source, destination } = move
  const moves = { movesFrom: from, movesTo: to, moveId }
  if (place.movesTo === null) {
    if (await holdsTenant(destination, tenant))
      throw conflict(`the cell ${to} has sagas or webhooks of the tenant`)
    await requireNoBulkJob(source, tenant)
    await setTenantPlace(directory, tenant, { cell: null, ...moves })
  }
  await sleep(place.movesTo === null ? quietMs : Math.max(0, quietMs - place.sinceMs))
  if (!(await isCopied(destination, moveId))) {
    await copy(move).catch(async (error: unknown) => {
      if (error instanceof DomainError) await restoreSource(directory, move)
      throw error
    })
  }
  await setTenantPlace(directory, tenant, { cell: to, ...moves })
}

async function copy({ tenant, moveId, source, destination }: Move): Promise<void> {
  await fenceTenant(source, tenant)
  await requireNoBulkJob(source, tenant)
  const shifts = await reserveIds({ source, destination }, tenant)
  if (await hasWebhooks(source, tenant)) {
    await Promise.all([awaitStoredDeliveries(source), awaitStoredDeliveries(destination)])
    await stopWebhooks(source, tenant, deliveryLeaseMs)
  }
  await unfenceTenant(destination, tenant)
  await copyTenant({ source, destination }, { tenant, moveId }, shifts)
}

async function cancelMove(
  directory: Database,
  move: Move,
  { place, to }: { place: TenantPlace; to: string },
): Promise<void> {
  if (to !== move.from || place.cell !== null || (await isCopied(move.destination, move.moveId)))
    throw conflict(`the tenant is moving to the cell ${move.to}: run this with it first`)
  await restoreSource(directory, move)
}

async function restoreSource(directory: Database, { tenant, source, from }: Move): Promise<void> {
  await unfenceTenant(source, tenant)
  await resumeWebhooks(source, tenant)
  await setTenantPlace(directory, tenant, settledAt(from))
}

function databaseOf(databases: ReadonlyMap<string, Database>, cell: string): Database {
  const database = databases.get(cell)
  if (!database) throw invalid(`no database of the cell ${cell} is given`)
  return database
}
