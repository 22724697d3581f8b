import { createHash, randomBytes } from 'node:crypto'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { Task } from './driver.js'
import type { Work } from './work.js'

const chunkBytes = 1_000_000
const chunks = 200
/** Much less than the size of the file, because memory must not depend on it. */
const memoryBytesMax = 100_000_000

/** The file of a {@link largeFileTask}, in the folder above its clones. */
export interface LargeFile {
  path: string
  /** Rejects unless the user finds its bytes at this address. */
  expectAt(url: string | undefined): Promise<void>
}

/** Returns a task with a file of 200 MB, which also fails when it takes much memory of the service. */
export const largeFileTask = (
  title: string,
  run: (work: Work, file: LargeFile) => Promise<unknown>,
): Task => ({
  title: `${title} of 200 MB, in bounded memory`,
  run: async (work) => {
    const file = await writeLargeFile(work)
    const grownBytes = await work.growthOfGitApi(() => run(work, file))
    expect(grownBytes).toBeLessThan(memoryBytesMax)
  },
})

async function writeLargeFile(work: Work): Promise<LargeFile> {
  const path = join(work.folder, 'large.bin')
  const hash = createHash('sha256')
  const file = await open(path, 'w')
  try {
    for (let written = 0; written < chunks; written += 1) {
      const chunk = randomBytes(chunkBytes)
      hash.update(chunk)
      await file.writeFile(chunk)
    }
  } finally {
    await file.close()
  }
  const expected = hash.digest('hex')
  return { path, expectAt: async (url) => expect(await hashAt(work, String(url))).toBe(expected) }
}

async function hashAt(work: Work, url: string): Promise<string> {
  const answer = await fetch(url, { headers: { 'PRIVATE-TOKEN': work.token } })
  expect(answer.status).toBe(200)
  const hash = createHash('sha256')
  for await (const chunk of answer.body ?? []) hash.update(chunk)
  return hash.digest('hex')
}
