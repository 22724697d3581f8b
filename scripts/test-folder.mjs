// Where tests keep what they throw away.
import { statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'

const inMemory = '/dev/shm'
const bytesMin = 4 * 1024 ** 3

/**
 * A folder in memory where there is room, else that of temporary files. A database is a thousand files, which
 * can take ten times as long to make and delete on a disk.
 */
export function testFolder() {
  if (process.env.TMPDIR) return tmpdir()
  try {
    const { bavail, bsize } = statfsSync(inMemory)
    return Math.min(bavail * bsize, process.availableMemory()) < bytesMin ? tmpdir() : inMemory
  } catch {
    return tmpdir()
  }
}
