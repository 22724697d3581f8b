import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { createGitRepository, type TestGitRepository } from '../src/index.js'

const opened: TestGitRepository[] = []

async function create() {
  const repository = await createGitRepository()
  opened.push(repository)
  return repository
}

afterEach(async () => {
  await Promise.all(opened.splice(0).map((repository) => repository.close()))
})

test('the same commits have the same hashes', async () => {
  const hashes = await Promise.all(
    [await create(), await create()].map(async (repository) => {
      await repository.commit({ files: { 'a/b.txt': 'one\n' } })
      return repository.commit({
        files: { 'a/b.txt': null, 'c.bin': new Uint8Array([0, 255]) },
        message: 'second\n',
      })
    }),
  )
  expect(hashes[0]).toMatch(/^[0-9a-f]{40}$/)
  expect(hashes[1]).toBe(hashes[0])
})

test('a commit has the given author, date, message and branch', async () => {
  const repository = await create()
  const first = await repository.commit()
  await repository.commit({
    branch: 'feature/x',
    message: 'Subject\n\nBody',
    author: { name: 'Ada', email: 'ada@example.com' },
    date: '2026-03-04T05:06:07+02:00',
  })
  const shown = await repository.git('log', '-1', '--format=%an <%ae>|%aI|%cI|%B|%P', 'feature/x')
  expect(shown.replaceAll('\n', '~')).toBe(
    `Ada <ada@example.com>|2026-03-04T05:06:07+02:00|2026-03-04T05:06:07+02:00|Subject~~Body~|${first}`,
  )
  expect(await repository.git('rev-parse', 'main')).toBe(first)
})

test('it can push to a bare repository', async () => {
  const repository = await create()
  const bare = await mkdtemp(join(tmpdir(), 'switchyard-bare-'))
  try {
    const sha = await repository.commit({ files: { 'README.md': '# Hello\n' } })
    await repository.git('init', '--quiet', '--bare', bare)
    await repository.git('push', '--quiet', bare, 'main')
    expect(await repository.git('--git-dir', bare, 'rev-parse', 'main')).toBe(sha)
  } finally {
    await rm(bare, { recursive: true })
  }
})
