import { mkdtemp, rm, statfs, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execa } from 'execa'

/** A small file system, which is soon full. */
export interface SmallDisk {
  path: string
  /** Leaves this number of bytes free. The space is free again after `makeRoom`. */
  fill(freeBytes: number): Promise<void>
  makeRoom(): Promise<void>
  close(): Promise<void>
}

/** Returns why a test that needs a small disk cannot run on this machine; null when it can. */
export async function findNoSmallDisk(): Promise<string | null> {
  if (process.getuid?.() !== 0) return 'only root can mount a file system'
  try {
    await (await mountSmallDisk(1024 ** 2)).close()
    return null
  } catch (error) {
    return `no file system can be mounted: ${error instanceof Error ? error.message.split('\n')[0] : error}`
  }
}

/** Mounts a file system in memory. */
export async function mountSmallDisk(bytes: number): Promise<SmallDisk> {
  const path = await mkdtemp(join(tmpdir(), 'switchyard-disk-'))
  await execa('mount', ['-t', 'tmpfs', '-o', `size=${bytes}`, 'tmpfs', path])
  const filler = join(path, 'filler')
  return {
    path,
    async fill(freeBytes) {
      await rm(filler, { force: true })
      const { bsize, bavail } = await statfs(path)
      await writeFile(filler, Buffer.alloc(Math.max(0, bsize * bavail - freeBytes)))
    },
    makeRoom: () => rm(filler, { force: true }),
    async close() {
      await execa('umount', ['--lazy', path])
      await rm(path, { recursive: true, force: true })
    },
  }
}
