import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, join } from 'node:path'

// Distributions put servers into folders that are not on the PATH of an ordinary user.
const serverFolders = ['/usr/local/sbin', '/usr/sbin', '/opt/homebrew/bin']

/** Returns the first of `names` that is an executable file on PATH or in a folder for servers, or null. */
export function findOnPath(...names: string[]): string | null {
  const folders = [...(process.env.PATH ?? '').split(delimiter), ...serverFolders].filter(
    (folder) => folder !== '',
  )
  for (const name of names) {
    const found = folders.map((folder) => join(folder, name)).find(isExecutable)
    if (found) return found
  }
  return null
}

export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
