import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { pack } from 'tar-stream'

/** The time that npm gives to all files of a tarball. */
const mtime = new Date('1985-10-26T08:15:00Z')

/**
 * Creates a tarball that package managers install. The same files result in the same bytes.
 *
 * @param files contents by their paths in the package
 * @param executables paths of executable files
 */
export async function makeTarball(files, executables = new Set()) {
  const tar = pack()
  for (const [path, content] of files)
    tar.entry({ name: `package/${path}`, mode: executables.has(path) ? 0o755 : 0o644, mtime }, content)
  tar.finalize()
  return gzipSync(await buffer(tar), { level: 9 })
}

/** Creates a tarball of all files below a folder. */
export function packFolder(folder, executables) {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
  // The order of a folder's files differs between file systems.
  return makeTarball(
    files.sort().map((path) => [path, readFileSync(join(folder, path))]),
    executables,
  )
}
