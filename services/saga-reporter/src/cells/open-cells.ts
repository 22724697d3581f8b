import { checkDatabase, createDatabase, type Database } from '@switchyard/db'
import type { HttpAppOptions } from '@switchyard/service-kit/http'
import type { ServiceContext } from '@switchyard/service-kit/lifecycle'
import type { Config } from '../config.js'
import { type Cells, createCells, oneCell } from './cells.js'
import { createForwardRead } from './forward-read.js'
import { followTenantMap } from './tenant-map.js'

interface OpenCells {
  cells: Cells
  /** The database with users, tokens and the map of tenants. */
  directory: Database
  forwardRead: HttpAppOptions['forwardRead']
}

/** Without other cells nothing is opened: the directory is the database of the sagas. */
export function openCells(
  config: Config,
  database: Database,
  { logger, metrics, health, lifecycle }: ServiceContext,
): OpenCells {
  const directory = openDirectory(config, database, { health, lifecycle })
  const { SAGA_CELL: own, SAGA_CELLS: addresses } = config
  if (!addresses) return { cells: oneCell(own), directory, forwardRead: undefined }
  const map = followTenantMap(directory, logger)
  lifecycle.onClose('map of tenants', () => map.close())
  const cells = createCells(own, addresses, map, metrics)
  const { forwardRead, close } = createForwardRead(cells)
  lifecycle.onClose('other cells', () => {
    close()
    cells.close()
  })
  return { cells, directory, forwardRead }
}

function openDirectory(
  config: Config,
  database: Database,
  { health, lifecycle }: Pick<ServiceContext, 'health' | 'lifecycle'>,
): Database {
  const url = config.SAGA_DIRECTORY_DATABASE_URL?.reveal()
  if (url === undefined || url === config.DATABASE_URL.reveal()) return database
  const directory = createDatabase({ url, poolSizeMax: 2, applicationName: 'saga-reporter-directory' })
  lifecycle.onClose('directory', () => directory.close())
  health.addCheck('directory', () => checkDatabase(directory))
  return directory
}
