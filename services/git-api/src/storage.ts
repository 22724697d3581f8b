import { constants } from 'node:fs'
import { access } from 'node:fs/promises'
import { makeFolder } from '@switchyard/service-kit/config'

/** Rejects unless repositories can be read and written below the storage root; makes the root when missing. */
export async function checkStorage(storageRoot: string): Promise<void> {
  try {
    makeFolder(storageRoot)
    await access(storageRoot, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'failed'
    throw new Error(`SWITCHYARD_STORAGE_ROOT cannot be written (${code})`, { cause: error })
  }
}
