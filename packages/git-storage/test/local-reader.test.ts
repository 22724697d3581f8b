import { createHash } from 'node:crypto'
import { chmod, mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { deflateSync } from 'node:zlib'
import fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'
import { DamagedObject, type OnFallback } from '../src/objects/fallbacks.js'
import { inflateObject } from '../src/objects/inflate.js'
import { LocalReader } from '../src/objects/local-reader.js'
import { walkCommits } from '../src/objects/walk.js'
import { type BareRepository, createBareRepository, historyStream, seededRandom } from './random-history.js'

const opened: { close: () => unknown }[] = []
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close()
})

async function repositoryWith(...flags: string[]): Promise<BareRepository> {
  const repository = await createBareRepository(...flags)
  opened.push(repository)
  return repository
}

function readerOf({ path }: BareRepository, onFallback: OnFallback = () => undefined): LocalReader {
  const reader = new LocalReader(path, onFallback)
  opened.push(reader)
  return reader
}

async function commitOf(reader: LocalReader, refName: string) {
  const id = await reader.findRef(refName)
  return id ? reader.findCommit(id) : undefined
}

const importing = ['fast-import', '--quiet', '--force', '--done', '--relative-marks', '--export-marks=marks']
const linesOf = (text: string) => text.split('\n').filter(Boolean)

/** Tags of commits, of tags and of trees; a branch and a tag of one name; references in a file and in files. */
async function addNames({ git }: BareRepository): Promise<void> {
  const env = ['-c', 'user.name=T', '-c', 'user.email=t@example.com']
  await git(...env, 'tag', 'light', 'main~3')
  await git(...env, 'tag', '-a', '-m', 'One', 'annotated', 'main~2')
  await git(...env, 'tag', '-a', '-m', 'Two', 'tag-of-tag', 'annotated')
  await git(...env, 'tag', '-a', '-m', 'Tree', 'of-a-tree', 'main^{tree}')
  await git('branch', 'same-name', 'main~1')
  await git('tag', 'same-name', 'main~4')
  await git('branch', 'deep/er/name', 'main~5')
  await git('branch', 'gone', 'main~5')
  await git('branch', 'päth', 'main~6')
  await git('pack-refs', '--all')
  await git('branch', '-D', 'gone')
  await git('branch', 'after-packing', 'main~1')
  await git('update-ref', 'refs/heads/deep/er/name', 'main~7')
}

const names = [
  ...['HEAD', 'refs/heads/main', 'refs/tags/light', 'refs/tags/annotated', 'refs/tags/tag-of-tag'],
  ...['refs/heads/same-name', 'refs/tags/same-name', 'refs/heads/deep/er/name', 'refs/heads/after-packing'],
  'refs/heads/päth',
]
const namesOfNothing = [
  ...['refs/heads/gone', 'refs/tags/of-a-tree', 'refs/heads/deep', 'refs/heads/deep/er', 'refs/heads'],
  ...['refs/heads/nothing', 'config', 'objects'],
]

async function expectSameAsGit(repository: BareRepository, reader: LocalReader): Promise<void> {
  const { git, feed } = repository
  const asked = names.map((name) => `${name}^{commit}\n`).join('')
  const meant = linesOf(await feed(asked, 'cat-file', '--batch-check=%(objectname)'))
  const found = await Promise.all(names.map((name) => commitOf(reader, name)))
  expect(found.map((commit) => commit?.id)).toEqual(meant)
  for (const name of namesOfNothing) expect(await commitOf(reader, name), name).toBeUndefined()
  expect(await reader.findRef('refs/heads/gone')).toBeNull()
  expect(await reader.findRef('refs/heads/after-packing')).toBe(await git('rev-parse', 'after-packing'))

  const tips = linesOf(await git('for-each-ref', '--format=%(objectname)', 'refs/heads/'))
  for (const tip of [...new Set(tips)].slice(0, 3)) {
    for (const firstParent of [false, true]) {
      const flags = firstParent ? ['--first-parent'] : []
      const all = linesOf(await git('rev-list', ...flags, tip))
      expect(await reader.walk({ tip, firstParent, skip: 0, take: all.length + 5 })).toEqual(all)
      expect(await reader.walk({ tip, firstParent, skip: 7, take: 20 })).toEqual(all.slice(7, 27))
      expect(await reader.count(tip, firstParent)).toBe(all.length)
    }
  }

  const tip = await git('rev-parse', 'main')
  const nameBefore = async () => null
  for (const path of ['folder-1/file-1.txt', 'folder-2/file-7.txt', 'nothing', 'folder-1']) {
    const found = await reader.walkPath({ tip, path, firstParent: false, nameBefore })
    const flags = ['--full-history', '--no-merges', '--format=%H']
    expect(found, path).toEqual(linesOf(await git('log', ...flags, tip, '--', path)))
  }

  const ids = linesOf(await git('cat-file', '--batch-all-objects', '--batch-check=%(objectname)'))
  const summary = linesOf(await feed(ids.join('\n'), 'cat-file', '--batch-check'))
  expect(await Promise.all(ids.map((id) => summaryOf(reader, id)))).toEqual(summary)
  // Their content too: an object's name is the hash of it.
  expect(await Promise.all(ids.map((id) => hashOf(reader, id)))).toEqual(ids)
}

async function hashOf(reader: LocalReader, id: string): Promise<string> {
  const { type, content = Buffer.alloc(0) } = (await reader.readObject(id)) ?? {}
  return createHash('sha1').update(`${type} ${content.length}\0`).update(content).digest('hex')
}

async function summaryOf(reader: LocalReader, id: string): Promise<string> {
  const object = await reader.readObject(id)
  return `${id} ${object?.type} ${object?.content.length}`
}

describe.each([
  { seed: 1, commits: 150, merges: 0.2, skewSeconds: 0 },
  { seed: 2, commits: 150, merges: 0.5, skewSeconds: 100_000 },
  { seed: 3, commits: 60, merges: 0, skewSeconds: 30 },
])('a random history %o reads as git reads it', ({ seed, ...shape }) => {
  test('loose, packed, with deltas, and with every kind of commit-graph', { timeout: 120_000 }, async () => {
    const repository = await repositoryWith()
    const { git, feed } = repository
    const random = seededRandom(seed)
    await git('config', 'fastimport.unpackLimit', '100000')
    await feed(historyStream(random, shape), ...importing)
    await addNames(repository)
    const reader = readerOf(repository)
    await expectSameAsGit(repository, reader)

    // The same reader goes on through everything that housekeeping does.
    await git('repack', '-adq', '--depth=50', '--window=20')
    await git('prune-packed')
    await expectSameAsGit(repository, reader)
    await git('commit-graph', 'write', '--reachable', '--changed-paths')
    await expectSameAsGit(repository, readerOf(repository))

    const next = { ...shape, commits: 40, from: shape.commits + 1 }
    await feed(historyStream(random, next), ...importing, '--import-marks=marks')
    await expectSameAsGit(repository, reader)
    await git('commit-graph', 'write', '--reachable', '--split=no-merge')
    await expectSameAsGit(repository, readerOf(repository))
    await git('repack', '-dq')
    await git('multi-pack-index', 'write')
    await git('repack', '-adfq', '--write-bitmap-index')
    await git('pack-refs', '--all')
    await expectSameAsGit(repository, reader)
  })
})

describe('what it does not know is left to git', () => {
  async function filled(...flags: string[]) {
    const repository = await repositoryWith(...flags)
    const shape = { commits: 12, merges: 0.2, skewSeconds: 10 }
    await repository.feed(historyStream(seededRandom(9), shape), ...importing)
    return repository
  }

  const tipOf = ({ git }: BareRepository) => git('rev-parse', 'main')

  async function expectSilence(repository: BareRepository) {
    const tip = await tipOf(repository)
    const reader = readerOf(repository)
    expect(await commitOf(reader, 'refs/heads/main')).toBeUndefined()
    expect(await reader.findRef('refs/heads/main')).toBeUndefined()
    expect(await reader.readObject(tip)).toBeUndefined()
    expect(await reader.walk({ tip, firstParent: false, skip: 0, take: 5 })).toBeUndefined()
    expect(await reader.count(tip, false)).toBeUndefined()
  }

  test('hashes of 256 bits', async () => expectSilence(await filled('--object-format=sha256')))

  test.each([
    ['core.repositoryformatversion', '2'],
    ['extensions.partialClone', 'origin'],
    ['remote.origin.promisor', 'true'],
    ['include.path', '/dev/null'],
  ])('%s = %s', async (key, value) => {
    const repository = await filled()
    const silent = await filled()
    expect(await commitOf(readerOf(silent), 'refs/heads/main')).toBeDefined()
    await writeFile(
      join(repository.path, 'config'),
      `[core]\n\trepositoryformatversion = 0\n\tbare = true\n${sectionOf(key, value)}`,
    )
    const reader = readerOf(repository)
    expect(await commitOf(reader, 'refs/heads/main')).toBeUndefined()
    expect(await reader.findRef('refs/heads/main')).toBeUndefined()
  })

  test.each(['shallow', 'info/grafts', 'objects/info/alternates'])('a repository with %s', async (file) => {
    const repository = await filled()
    expect(await commitOf(readerOf(repository), 'refs/heads/main')).toBeDefined()
    await repository.git('config', 'core.bare', 'true')
    await writeFile(join(repository.path, file), '').catch(() => repository.git('init', '--quiet', '--bare'))
    await writeFile(join(repository.path, file), '')
    await expectSilence(repository)
  })

  test('a missing object, a damaged pack, an odd reference', async () => {
    const repository = await filled()
    const reader = readerOf(repository)
    expect(await reader.readObject('1'.repeat(40))).toBeUndefined()
    await writeFile(join(repository.path, 'refs/heads/odd'), 'nonsense')
    expect(await reader.findRef('refs/heads/odd')).toBeUndefined()
    await repository.git('symbolic-ref', 'refs/heads/circle', 'refs/heads/circle2')
    await repository.git('symbolic-ref', 'refs/heads/circle2', 'refs/heads/circle')
    expect(await reader.findRef('refs/heads/circle')).toBeUndefined()
  })
})

describe('each question that is left to git is told', () => {
  async function told(change: (repository: BareRepository, tip: string) => Promise<unknown>) {
    const repository = await repositoryWith()
    const shape = { commits: 12, merges: 0.2, skewSeconds: 10 }
    await repository.feed(historyStream(seededRandom(9), shape), ...importing)
    const tip = await repository.git('rev-parse', 'main')
    await change(repository, tip)
    const found: { reason: string; error: string | undefined }[] = []
    const reader = readerOf(repository, (reason, error) => found.push({ reason, error: error?.message }))
    expect(await reader.readObject(tip)).toBeUndefined()
    return found
  }

  test('an unknown layout and a missing object by their reason alone', async () => {
    expect(await told(({ path }) => writeFile(join(path, 'shallow'), ''))).toEqual([
      { reason: 'history or objects in other files', error: undefined },
    ])
    const withoutObject = ({ path }: BareRepository) =>
      rm(join(path, 'objects'), { recursive: true }).then(() => mkdir(join(path, 'objects')))
    expect(await told(withoutObject)).toEqual([{ reason: 'missing object', error: undefined }])
  })

  test('a damaged pack with its error', async () => {
    const damaged = await told(async ({ path, git }) => {
      await git('repack', '-adq')
      for (const name of await readdir(join(path, 'objects/pack'))) {
        if (!name.endsWith('.pack')) continue
        await chmod(join(path, 'objects/pack', name), 0o600)
        await writeFile(join(path, 'objects/pack', name), Buffer.alloc(100_000))
      }
    })
    expect(damaged).toEqual([{ reason: 'damaged object', error: expect.any(String) }])
  })
})

test('objects are inflated byte by byte, and damaged ones are refused', async () => {
  const object = fc.record({
    content: fc.oneof(
      fc.uint8Array({ maxLength: 5_000, size: 'max' }),
      fc.integer({ min: 65_000, max: 70_000 }).map((length) => new Uint8Array(length).fill(7)),
    ),
    level: fc.integer({ min: 0, max: 9 }),
    following: fc.uint8Array({ maxLength: 100 }),
    lost: fc.integer({ min: 1, max: 100 }),
  })
  await fc.assert(
    fc.asyncProperty(object, async ({ content, level, following, lost }) => {
      const deflated = deflateSync(content, { level })
      const whole = Buffer.concat([deflated, following])
      const inflated = await inflateObject(whole, content.length)
      expect(inflated?.equals(content)).toBe(true)
      expect(await inflateObject(deflated.subarray(0, -lost), content.length)).toBeNull()
      await expect(inflateObject(whole, content.length + 1)).rejects.toThrow('another size')
      if (content.length > 0)
        await expect(inflateObject(whole, content.length - 1)).rejects.toThrow(DamagedObject)
      const damaged = Buffer.from(deflated)
      damaged.writeUInt8((damaged.at(-1) ?? 0) ^ 1, damaged.length - 1)
      await expect(inflateObject(damaged, content.length)).rejects.toThrow('incorrect data check')
    }),
  )
})

const sectionOf = (key: string, value: string) => {
  const [section, ...rest] = key.split('.')
  const name = rest.pop()
  return `[${section}${rest.length > 0 ? ` "${rest.join('.')}"` : ''}]\n\t${name} = ${value}\n`
}

test('long walks read the graph', { timeout: 120_000 }, async () => {
  const repository = await repositoryWith()
  const commits = 20_000
  const lines = Array.from({ length: commits }, (_, index) =>
    [
      'commit refs/heads/main',
      `committer B <b@example.com> ${1_600_000_000 + index} +0000`,
      'data 1',
      'x',
      '',
    ].join('\n'),
  )
  await repository.feed(`${lines.join('\n')}\ndone\n`, 'fast-import', '--quiet', '--done')
  const tip = await repository.git('rev-parse', 'main')
  const outside = readerOf(repository)
  // Too many commits to read one by one.
  expect(await outside.count(tip, false)).toBeUndefined()
  await repository.git('commit-graph', 'write', '--reachable')
  const reader = readerOf(repository)
  expect(await reader.count(tip, false)).toBe(commits)
  const page = await reader.walk({ tip, firstParent: false, skip: commits - 3, take: 20 })
  expect(page).toEqual(linesOf(await repository.git('rev-list', `--skip=${commits - 3}`, tip)))
})

test('walks yield to the event loop, and end when they are cancelled', async () => {
  const busyMs = 0.1
  const read = async (id: string) => {
    for (const until = performance.now() + busyMs; performance.now() < until; );
    return { id, treeId: '', parentIds: [String(Number(id) + 1)], seconds: 0 }
  }
  let turns = 0
  const timer = setInterval(() => {
    turns += 1
  }, 1)
  const query = { tip: '1', firstParent: false, skip: 0, take: 1000 }
  expect(await walkCommits({ graph: null, read }, query)).toHaveLength(1000)
  clearInterval(timer)
  expect(turns).toBeGreaterThan(2)
  const cancelled = { signal: AbortSignal.abort(new Error('gone')) }
  await expect(walkCommits({ graph: null, read }, query, cancelled)).rejects.toThrow('gone')
})
