import { randomBytes } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { createGitRepository, findNoSmallDisk, isolatedGitEnv, mountSmallDisk } from '@switchyard/testing'
import { execa } from 'execa'
import { expect, test } from 'vitest'
import { tidyRepository } from '../../src/housekeeping/tidy-repository.js'

const mebibyte = 1024 ** 2
const reason = await findNoSmallDisk()
if (reason) console.error(`SKIPPED: housekeeping on a full disk is not tried, because ${reason}`)

test.skipIf(reason)('housekeeping on a full disk leaves no unfinished pack', async () => {
  const disk = await mountSmallDisk(48 * mebibyte)
  const work = await createGitRepository()
  try {
    const bare = join(disk.path, 'repository.git')
    const git = async (...args: string[]) =>
      (await execa('git', ['--git-dir', bare, ...args], { env: isolatedGitEnv(), extendEnv: false })).stdout
    await execa('git', ['init', '--quiet', '--bare', bare])
    for (const name of ['a', 'b', 'c']) {
      await work.commit({ files: { [name]: randomBytes(6 * mebibyte) } })
      await work.git('-c', 'transfer.unpackLimit=1', 'push', '--quiet', bare, 'HEAD:main')
    }
    const tidy = () =>
      tidyRepository(bare, new AbortController().signal, {
        lfsObjectNotes: { listReleased: async () => [], reclaim: async () => {}, forget: async () => [] },
      })
    await disk.fill(9 * mebibyte)
    for (let attempt = 0; attempt < 3; attempt += 1) await expect(tidy()).rejects.toThrow()
    const names = await readdir(join(bare, 'objects'), { recursive: true })
    expect(names.filter((name) => name.includes('tmp'))).toEqual([])
    await git('fsck', '--full', '--strict')

    await disk.makeRoom()
    expect(await tidy()).toBe(true)
    await git('fsck', '--full', '--strict')
    expect((await readdir(join(bare, 'objects/pack'))).filter((name) => name.endsWith('.pack'))).toHaveLength(
      1,
    )
  } finally {
    await work.close()
    await disk.close()
  }
})
