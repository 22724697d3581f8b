import { execFile } from 'node:child_process'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { RefChange } from '@switchyard/domain/access'

/**
 * Makes the references that a push changed durable. One flush of the file system takes as long for thousands
 * of files as for one; a flush for each file takes milliseconds.
 *
 * @param path of the bare repository
 * @throws Error when the disk fails
 */
export async function syncReferences(path: string, changes: readonly RefChange[]): Promise<void> {
  const flushed = await promisify(execFile)('sync', ['-f', path]).then(
    () => true,
    () => false,
  )
  if (flushed) return
  // This system has no `sync -f`.
  for (const { ref } of changes) await syncFile(join(path, ref))
  await syncFile(join(path, 'packed-refs'))
}

/** Flushes a file. A missing file needs no flush, because the reference was deleted or packed. */
async function syncFile(file: string): Promise<void> {
  const handle = await open(file, 'r').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'EISDIR') return null
    throw error
  })
  await handle?.sync().finally(() => handle.close())
}
