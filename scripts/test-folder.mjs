// The folder for data of tests that is thrown away.
import { statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'

const inMemory = '/dev/shm'
const bytesMin = 4 * 1024 ** 3

/**
 * Returns a folder in memory when there is room, otherwise that of temporary files. A database consists of a
 * thousand files, which can take ten times as long to create and delete on a disk.
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
