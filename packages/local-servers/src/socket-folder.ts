import { createHash } from 'node:crypto'
import { lstatSync, mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SolvableProblem } from '@switchyard/terminal'

// sockaddr_un holds 108 bytes on Linux and 104 on macOS, including the final NUL.
const socketPathBytesMax = 103

/**
 * Creates a folder of mode 0700 for a unix socket named `socketName`: `<dataDir>/run`, or a folder below the
 * system's temporary folder when that path would be too long for a socket.
 */
export function makeSocketFolder(dataDir: string, socketName: string): string {
  const inside = join(dataDir, 'run')
  if (Buffer.byteLength(join(inside, socketName)) <= socketPathBytesMax) return makePrivate(inside)
  const hash = createHash('sha256').update(dataDir).digest('hex').slice(0, 12)
  return makePrivate(join(tmpdir(), `switchyard-${hash}`))
}

function makePrivate(folder: string): string {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const stat = lstatSync(folder)
  const ours = process.getuid === undefined || stat.uid === process.getuid()
  // Another user may have created a folder or a link in the temporary folder.
  if (!stat.isDirectory() || !ours || (stat.mode & 0o077) !== 0) {
    throw new SolvableProblem(`${folder} must be a folder of yours with mode 0700: remove it and start again`)
  }
  return folder
}
