import { constants } from 'node:fs'
import { access } from 'node:fs/promises'
import { makeFolder } from '@switchyard/config'
import type { Metrics } from '@switchyard/service-kit/observability'
import { Gauge } from 'prom-client'
import { keptFreeBytes } from './storage-space.js'
import { type DiskSpace, readStorage } from './system.js'

/**
 * Rejects unless repositories can be read and written below the storage root; creates the root when it is
 * missing.
 */
export async function checkStorage(storageRoot: string): Promise<void> {
  try {
    makeFolder(storageRoot)
    await access(storageRoot, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'failed'
    throw new Error(`SWITCHYARD_STORAGE_ROOT cannot be written (${code})`, { cause: error })
  }
}

/** Exports metrics of the file system of the repositories; they are missing while it does not answer. */
export function exposeStorage({ registry }: Metrics, storageRoot: string, freeBytesMin: number): void {
  const expose = (name: string, help: string, read: (space: DiskSpace) => number) =>
    new Gauge({
      name,
      help,
      registers: [registry],
      async collect() {
        const space = await readStorage(storageRoot)
        if (space) this.set(read(space))
        else this.remove()
      },
    })
  expose('git_api_storage_free_bytes', 'Space that is left for repositories.', (space) => space.freeBytes)
  expose(
    'git_api_storage_size_bytes',
    'Size of the file system of repositories.',
    (space) => space.totalBytes,
  )
  expose(
    'git_api_storage_kept_free_bytes',
    'Space that is kept free: writes that would leave less are refused.',
    (space) => keptFreeBytes(space.totalBytes, freeBytesMin),
  )
}
