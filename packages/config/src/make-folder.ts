import { mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Creates a folder that a setting names, and the folders above it. An existing folder stays unchanged.
 * `mkdir` of Node with `recursive` never returns on a file system without folders, such as `/proc`.
 *
 * @throws an error of the operating system, whose `code` says why the folder cannot be created
 */
export function makeFolder(path: string, mode = 0o700): void {
  try {
    mkdirSync(path, { mode })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST' && statSync(path).isDirectory()) return
    if (code !== 'ENOENT' || dirname(path) === path) throw error
    makeFolder(dirname(path), mode)
    mkdirSync(path, { mode })
  }
}
