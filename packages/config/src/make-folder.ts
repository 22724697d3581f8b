import { mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Makes a folder that a setting names, and the folders above it. One that is there stays as it is. `mkdir` of
 * Node with `recursive` never returns where a file system takes no folders, such as `/proc`.
 *
 * @throws an error of the operating system, whose `code` says why the folder cannot be made
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
