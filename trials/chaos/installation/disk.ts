import { execFileSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export type Disk = NonNullable<ReturnType<typeof mountDisk>>

/** Mounts a small disk in memory; null when this process lacks the rights. */
export function mountDisk(sizeMib: number) {
  const folder = mkdtempSync(join(tmpdir(), 'switchyard-disk-'))
  try {
    const options = `size=${sizeMib}m,mode=755`
    execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', folder], { stdio: 'pipe' })
  } catch {
    rmSync(folder, { recursive: true })
    return null
  }
  const filler = join(folder, 'filler')
  return {
    folder,
    /** Writes until the disk is full. */
    fill: () => fill(filler),
    clear: () => rmSync(filler, { force: true }),
    unmount() {
      execFileSync('umount', ['--lazy', folder])
      rmSync(folder, { recursive: true })
    },
  }
}

function fill(file: string): void {
  const descriptor = openSync(file, 'a')
  try {
    for (let bytes = 1024 * 1024; bytes >= 1024; bytes /= 4) writeUntilFull(descriptor, Buffer.alloc(bytes))
  } finally {
    closeSync(descriptor)
  }
}

function writeUntilFull(descriptor: number, bytes: Buffer): void {
  try {
    while (writeSync(descriptor, bytes) === bytes.length);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
  }
}
