import { type FileHandle, open, rename, rm } from 'node:fs/promises'

/**
 * Writes a file under a temporary name, flushes it and renames it. The new name is durable after
 * {@link syncFolder}.
 *
 * @param file its path; a function finds the path of a file whose name depends on its content
 */
export async function writeDurably(
  temporary: string,
  file: string | (() => Promise<string>),
  write: (handle: FileHandle) => Promise<void>,
): Promise<void> {
  try {
    const handle = await open(temporary, 'wx+', 0o444)
    try {
      await write(handle)
      await handle.datasync()
    } finally {
      await handle.close()
    }
    await rename(temporary, typeof file === 'string' ? file : await file())
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
}

/** Makes the names in a folder durable. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/**
 * Rethrows every error but that of a missing file or folder.
 *
 * @throws the error, unless a file or folder is missing
 */
export function unlessMissing(error: unknown): void {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
}
