import { setTimeout as sleep } from 'node:timers/promises'
import { type Database, findTenantCell, holdsTenant, setTenantCell } from '@switchyard/db'
import { conflict } from '@switchyard/domain'
import { defaultCell } from './cell-settings.js'
import { mapAgeMsMax } from './tenant-map.js'

/** Longer than a reporter uses what it has read of the map. */
const quietMs = mapAgeMsMax + 1_000

/**
 * Makes a cell that of a tenant without sagas. Until it is done nobody takes events of the tenant; when it is interrupted, running
 * it again goes on.
 *
 * @param directory the database of the cell `default`
 * @throws DomainError conflict when the tenant has a cell already, or something in its database
 */
export async function placeTenant(directory: Database, tenant: string, cell: string): Promise<void> {
  const known = await findTenantCell(directory, tenant)
  if (known === cell) return
  if (known !== null && (known ?? defaultCell) !== defaultCell)
    throw conflict(`the tenant belongs to the cell ${known}`)
  if (await holdsTenant(directory, tenant)) throw await refusal(directory, tenant)
  await setTenantCell(directory, tenant, null)
  await sleep(quietMs)
  if (await holdsTenant(directory, tenant)) throw await refusal(directory, tenant)
  await setTenantCell(directory, tenant, cell)
}

async function refusal(directory: Database, tenant: string) {
  await setTenantCell(directory, tenant, defaultCell)
  return conflict(`the tenant has sagas or webhooks in the cell ${defaultCell}`)
}
