import { type Database, listTenantCells } from '@switchyard/db'
import { unavailable } from '@switchyard/domain'
import type { Logger } from '@switchyard/service-kit/observability'
import { defaultCell } from './cell-settings.js'

const readEveryMs = 1_000

/** After this time without a successful read, the map is not used: a tenant may have moved meanwhile. */
export const mapAgeMsMax = 5_000

/** Which cell a tenant belongs to. */
export interface TenantMap {
  /** @throws DomainError unavailable when the cell is not known, or while the tenant moves */
  cellOf: (tenant: string) => string
  close: () => Promise<void>
}

/** Follows the map in the directory: reads what has changed each second, and answers from memory. */
export function followTenantMap(directory: Pick<Database, 'pool'>, logger: Logger): TenantMap {
  const cells = new Map<string, string | null>()
  let newest: Date | null = null
  let readAtMs = Number.NEGATIVE_INFINITY
  let isClosed = false
  let timer: NodeJS.Timeout | undefined

  async function read(): Promise<void> {
    const askedAtMs = performance.now()
    try {
      for (const { tenant, cell, changedAt } of await listTenantCells(directory, newest)) {
        cells.set(tenant, cell)
        if (newest === null || changedAt > newest) newest = changedAt
      }
      readAtMs = askedAtMs
    } catch (error) {
      logger.warn({ err: error }, 'the map of tenants could not be read')
    }
    if (!isClosed) timer = setTimeout(readAgain, readEveryMs)
  }
  let reading = read()
  function readAgain(): void {
    reading = read()
  }

  return {
    cellOf(tenant) {
      if (performance.now() - readAtMs > mapAgeMsMax) throw unavailable('the cells of tenants are not known')
      const cell = cells.get(tenant)
      if (cell === null) throw unavailable('the tenant moves to another cell')
      return cell ?? defaultCell
    },
    async close() {
      isClosed = true
      clearTimeout(timer)
      await reading
    },
  }
}
