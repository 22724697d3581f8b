import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { SetupProblem } from '../problem.js'
import { fetchAptFolder, multiarchFolders } from './apt-copy.js'

const wanted = { name: 'jemalloc', packages: ['libjemalloc2'] }

/**
 * The library that saga-reporter's image preloads: the system's, else the copy below `toolsDir`, else fetched there as
 * `findRedisServer` does.
 */
export async function findJemalloc(toolsDir: string): Promise<string> {
  const present = libraryBelow('/') ?? libraryBelow(join(toolsDir, wanted.name))
  if (present) return present
  try {
    return requireLibrary(await fetchAptFolder(wanted, toolsDir, requireLibrary))
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new SetupProblem(`jemalloc is missing (${reason}): type "sudo apt-get install -y libjemalloc2"`)
  }
}

function requireLibrary(root: string): string {
  const library = libraryBelow(root)
  if (!library) throw new Error('the package does not hold libjemalloc.so.2')
  return library
}

function libraryBelow(root: string): string | undefined {
  return multiarchFolders(root, 'usr/lib')
    .map((folder) => join(root, folder, 'libjemalloc.so.2'))
    .find(existsSync)
}
