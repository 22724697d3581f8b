import { randomUUID } from 'node:crypto'
import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { makeFolder } from '@switchyard/service-kit/config'

/** The token in a file; null for a missing or an empty file. */
export async function readTokenFile(path: string): Promise<string | null> {
  try {
    return (await readFile(path, 'utf8')).trim() || null
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

/** Replaces the file in one step; only its owner may read it. */
export async function writeTokenFile(path: string, token: string): Promise<void> {
  makeFolder(dirname(path))
  const temporary = `${path}.${randomUUID()}`
  try {
    await writeFile(temporary, `${token}\n`, { mode: 0o600, flag: 'wx' })
    await rename(temporary, path)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
}
