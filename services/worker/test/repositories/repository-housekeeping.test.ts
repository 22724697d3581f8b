import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { appendFile, mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { repositoryHousekeepingJob } from '@switchyard/contracts/jobs'
import { withMaintenanceLock } from '@switchyard/db'
import { tidyRepository } from '@switchyard/git-storage/housekeeping'
import { createProject, createUser, isolatedGitEnv } from '@switchyard/testing'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startHarness } from '../harness.js'
import { pushedProject, tidied } from './pushed-project.js'

const run = promisify(execFile)

let harness: Awaited<ReturnType<typeof startHarness>>
let worker: Awaited<ReturnType<typeof harness.startWorker>>
beforeAll(async () => {
  harness = await startHarness()
  worker = await harness.startWorker()
})
afterAll(async () => {
  await worker.close()
  await harness.close()
})

const git = async (bare: string, ...args: string[]) =>
  (await run('git', [`--git-dir=${bare}`, ...args], { env: isolatedGitEnv() })).stdout.trim()

const lfsObjectNotes = { listReleased: async () => [], reclaim: async () => {}, forget: async () => [] }

const graphs = (bare: string) => readdir(join(bare, 'objects/info/commit-graphs'))

it('housekeeping joins packs and loose objects, indexes them together, and writes the commit graph', async () => {
  const { project, bare, tip } = await pushedProject(harness)
  expect(await git(bare, 'count-objects')).not.toMatch(/^0 objects/)
  await tidied(harness, project.id)
  expect(await git(bare, 'count-objects')).toMatch(/^0 objects/)
  const packs = await readdir(join(bare, 'objects/pack'))
  expect(packs.filter((name) => name.endsWith('.pack'))).toHaveLength(1)
  expect(packs).toContain('multi-pack-index')
  expect(await graphs(bare)).toContain('commit-graph-chain')
  expect(await readdir(join(bare, 'refs/heads'))).toEqual([])
  expect(await git(bare, 'rev-parse', 'branch-3')).toBe(tip)
  await git(bare, 'commit-graph', 'verify')
  await git(bare, 'fsck', '--full', '--strict')
})

it('housekeeping tidies the repositories of its own storage, from its own queue, and skips moved ones', async () => {
  const second = await harness.startWorker({ SWITCHYARD_STORAGE: 'second' })
  try {
    const { project, bare } = await pushedProject(harness)
    const packsOf = async () =>
      (await readdir(join(bare, 'objects/pack'))).filter((name) => /idx$/.test(name))
    const looseBefore = await git(bare, 'count-objects')
    await tidied(harness, project.id, 'second')
    expect([await git(bare, 'count-objects'), await packsOf()]).toEqual([looseBefore, []])
    await harness.database.prisma.project.update({ where: { id: project.id }, data: { storage: 'second' } })
    await tidied(harness, project.id, 'default')
    expect(await packsOf()).toEqual([])
    await tidied(harness, project.id, 'second')
    expect(await packsOf()).toHaveLength(1)
  } finally {
    await second.close()
  }
})

it('housekeeping does not delta-compress files over 64 MB, so that its memory is bounded', async () => {
  const { bare } = await pushedProject(harness)
  const ids: string[] = []
  for (const end of ['one', 'two']) {
    const file = join(bare, end)
    await writeFile(file, Buffer.alloc(65 * 1024 * 1024))
    await appendFile(file, end)
    ids.push(await git(bare, 'hash-object', '-w', file))
    await git(bare, 'update-ref', `refs/tags/${end}`, ids.at(-1) ?? '')
  }
  await tidyRepository(bare, new AbortController().signal, { lfsObjectNotes })
  const packs = (await readdir(join(bare, 'objects/pack'))).filter((name) => name.endsWith('.idx'))
  const listed = await git(
    bare,
    'verify-pack',
    '--verbose',
    ...packs.map((name) => join(bare, 'objects/pack', name)),
  )
  // A delta would list its depth and its base.
  for (const id of ids) expect(listed).toMatch(new RegExp(`^${id} blob +\\d+ \\d+ \\d+$`, 'm'))
})

it('housekeeping runs no hook and no program that the repository configures', async () => {
  const { bare } = await pushedProject(harness)
  const ran = join(bare, 'ran')
  const program = join(bare, 'hooks/reference-transaction')
  await mkdir(join(bare, 'hooks'), { recursive: true })
  await writeFile(program, `#!/bin/sh\ntouch ${ran}\n`, { mode: 0o755 })
  for (const key of ['core.fsmonitor', 'core.alternateRefsCommand']) await git(bare, 'config', key, program)
  await tidyRepository(bare, new AbortController().signal, { collectEveryMs: 0, lfsObjectNotes })
  await tidyRepository(bare, new AbortController().signal, { collectEveryMs: 0, lfsObjectNotes })
  expect(await readdir(join(bare, 'refs/heads'))).toEqual([])
  expect(await readdir(bare)).not.toContain('ran')
})

it('housekeeping has the same result when it runs again', async () => {
  const { project, bare, tip } = await pushedProject(harness)
  await tidied(harness, project.id)
  await tidied(harness, project.id)
  expect(await git(bare, 'rev-parse', 'main')).toBe(tip)
  await git(bare, 'fsck', '--full', '--strict')
})

it('housekeeping continues after a killed run that left its locks', async () => {
  const { project, bare } = await pushedProject(harness)
  const left = [
    'objects/info/commit-graphs/commit-graph-chain.lock',
    'objects/pack/multi-pack-index.lock',
    'packed-refs.lock',
    'refs/heads/main.lock',
    'refs/heads/branch-1.lock',
  ]
  await mkdir(join(bare, 'objects/info/commit-graphs'), { recursive: true })
  for (const lock of left) {
    await writeFile(join(bare, lock), '')
    await utimes(join(bare, lock), new Date(0), new Date(0))
  }
  await tidied(harness, project.id)
  expect(await graphs(bare)).toContain('commit-graph-chain')
})

it('housekeeping removes the unfinished files of dead processes, and no recent files', async () => {
  const { bare } = await pushedProject(harness)
  const names = [
    'pack/tmp_pack_AbCd12',
    'pack/tmp_idx_AbCd12',
    'pack/tmp_rev_AbCd12',
    `pack/tmp_pack_${randomUUID()}`,
    'pack/.tmp-4711-pack-1234.pack',
    'pack/multi-pack-index.lock',
    `00/tmp_obj_${randomUUID()}`,
    'info/commit-graph.lock',
    'info/commit-graphs/tmp_graph_AbCd12',
  ]
  for (const folder of ['00', 'info/commit-graphs', 'pack']) {
    await mkdir(join(bare, 'objects', folder), { recursive: true })
  }
  for (const name of names) {
    await writeFile(join(bare, 'objects', name), 'bytes')
    await utimes(join(bare, 'objects', name), new Date(0), new Date(0))
  }
  await writeFile(join(bare, 'objects/pack/tmp_pack_young1'), 'bytes')
  await tidyRepository(bare, new AbortController().signal, { lfsObjectNotes })
  const left = (await readdir(join(bare, 'objects'), { recursive: true })).filter((name) =>
    /tmp|lock/.test(name),
  )
  expect(left).toEqual(['pack/tmp_pack_young1'])
  await git(bare, 'fsck', '--full', '--strict')
})

it('housekeeping counts the size of the project again', async () => {
  const { project, bare } = await pushedProject(harness)
  const stored = { projectId: project.id, repositoryBytes: 10n ** 12n, lfsBytes: 7n }
  await harness.database.prisma.storageUse.create({ data: stored })
  await tidied(harness, project.id)
  const use = await harness.database.prisma.storageUse.findUniqueOrThrow({ where: { projectId: project.id } })
  const counted = await git(bare, 'count-objects', '-v')
  const kibibytes = [...counted.matchAll(/^size(?:-pack)?: (\d+)$/gm)].reduce(
    (sum, [, size]) => sum + Number(size),
    0,
  )
  expect(use).toMatchObject({ repositoryBytes: BigInt(1024 * kibibytes), lfsBytes: 0n })
})

it('housekeeping skips a repository while another process tidies it, and tries again', async () => {
  const { project, bare } = await pushedProject(harness)
  const queue = harness.queue('repository-housekeeping')
  const { name, data, options } = repositoryHousekeepingJob(project.id)
  let failed: Awaited<ReturnType<typeof queue.getJob>>
  await withMaintenanceLock(harness.database, project.id, async () => {
    const { id = '' } = await queue.add(name, data, { ...options, delay: 0 })
    await expect.poll(async () => (await queue.getJob(id))?.attemptsMade).toBe(1)
    failed = await queue.getJob(id)
    expect(failed?.failedReason).toContain('another process tidies')
    expect(await git(bare, 'count-objects')).not.toMatch(/^0 objects/)
  })
  // The retry waits for the end of the other run, because otherwise it would fail again, and wait longer.
  await failed?.promote()
  await expect.poll(() => git(bare, 'count-objects')).toMatch(/^0 objects/)
})

it('housekeeping removes unreachable objects that are old enough, and nothing else', async () => {
  const { bare, tip } = await pushedProject(harness)
  const tidy = () => tidyRepository(bare, new AbortController().signal, { collectEveryMs: 0, lfsObjectNotes })
  // The first run only records when the next one must check.
  await tidy()
  const hash = async (text: string) => {
    const child = run('git', [`--git-dir=${bare}`, 'hash-object', '-w', '--stdin'])
    child.child.stdin?.end(text)
    return (await child).stdout.trim()
  }
  const [old, young] = [await hash('old'), await hash('young')]
  const kept = await git(bare, ...author, 'commit-tree', '-m', 'commented', `${tip}^{tree}`)
  await git(bare, 'update-ref', `refs/keep-around/${kept}`, kept)
  const threeWeeksAgo = Date.now() / 1000 - 21 * 24 * 3600
  for (const id of [old, kept]) await utimes(looseFile(bare, id), threeWeeksAgo, threeWeeksAgo)
  await tidy()
  await expect(git(bare, 'cat-file', '-t', old)).rejects.toThrow()
  expect(await git(bare, 'cat-file', '-t', young)).toBe('blob')
  expect(await git(bare, 'cat-file', '-t', kept)).toBe('commit')
  await git(bare, 'fsck', '--full', '--strict')
  await git(bare, 'commit-graph', 'verify')
  await git(bare, 'multi-pack-index', 'verify')
})

const author = ['-c', 'user.name=a', '-c', 'user.email=a@example.com']
const looseFile = (bare: string, id: string) => join(bare, 'objects', id.slice(0, 2), id.slice(2))

it('housekeeping disturbs neither readers nor pushes, and loses nothing', async () => {
  const bare = await mkdtemp(join(tmpdir(), 'switchyard-tidied-'))
  await run('git', ['init', '--bare', '--quiet', '--initial-branch=main', bare])
  await imported(bare, 1, 800)
  const first = await git(bare, 'rev-list', '--objects', 'main')
  let running = true
  const failures: unknown[] = []
  const readOn = async (...question: string[]) => {
    let answers = 0
    for (; running; answers += 1) await git(bare, ...question).catch((error) => failures.push(error))
    return answers
  }
  const readers = [
    readOn('log', '--numstat', '-40', 'main'),
    readOn('rev-list', '--objects', 'main', '--', 'f3'),
  ]
  for (let round = 1; round <= 4; round += 1) {
    const tidying = tidyRepository(bare, new AbortController().signal, {
      collectEveryMs: 0,
      grace: '1.hour.ago',
      lfsObjectNotes,
    })
    await imported(bare, round * 1000, 60)
    await tidying
  }
  running = false
  const answers = await Promise.all(readers)
  expect(failures).toEqual([])
  expect(Math.min(...answers)).toBeGreaterThan(0)
  const now = new Set((await git(bare, 'rev-list', '--objects', 'main')).split('\n'))
  expect(first.split('\n').filter((object) => !now.has(object))).toEqual([])
  expect(await git(bare, 'rev-list', '--count', 'main')).toBe(String(800 + 4 * 60))
  await git(bare, 'fsck', '--full', '--strict')
  await rm(bare, { recursive: true })
})

/** Adds that many commits to main. */
async function imported(bare: string, from: number, count: number): Promise<void> {
  const commits = Array.from({ length: count }, (_, index) => {
    const number = from + index
    const first = index === 0 && number > 1 ? 'from refs/heads/main^0\n' : ''
    const text = `${number}\n`.repeat(200)
    return `commit refs/heads/main\ncommitter A <a@x> ${1_600_000_000 + number} +0000\ndata 0\n${first}M 100644 inline f${number % 9}\ndata ${text.length}\n${text}\n`
  })
  const child = run('git', [`--git-dir=${bare}`, 'fast-import', '--quiet', '--force'])
  child.child.stdin?.end(commits.join(''))
  await child
}

it('housekeeping does nothing for an empty repository, a missing repository, and a missing project', async () => {
  const project = await createProject(harness.database, await createUser(harness.database))
  await run('git', ['init', '--bare', '--quiet', join(harness.storageRoot, project.diskPath)])
  await tidied(harness, project.id)
  await tidied(harness, (await createProject(harness.database, await createUser(harness.database))).id)
  await tidied(harness, 2_000_000_000)
})

it('housekeeping runs once for ten pushes at the same time', async () => {
  const { project, bare } = await pushedProject(harness)
  const queue = harness.queue('repository-housekeeping')
  const { name, data, options } = repositoryHousekeepingJob(project.id)
  const before = await queue.getCompletedCount()
  const pushes = Array.from({ length: 10 }, () => queue.add(name, data, { ...options, delay: 500 }))
  const jobs = await Promise.all(pushes)
  expect(new Set(jobs.map(({ id }) => id)).size).toBe(1)
  await expect.poll(() => jobs[0]?.getState()).toBe('completed')
  expect(await graphs(bare)).toContain('commit-graph-chain')
  expect((await queue.getCompletedCount()) - before).toBe(1)
  expect(await queue.getJobCountByTypes('wait', 'delayed', 'active', 'failed')).toBe(0)
})

it('housekeeping moves a job with an unreadable payload to the dead jobs at once', async () => {
  const queue = harness.queue('repository-housekeeping')
  const job = await queue.add('repository-housekeeping', { projectId: 'seven' }, { attempts: 5 })
  await expect.poll(() => job.getState()).toBe('failed')
  const dead = await queue.getJob(job.id ?? '')
  expect([dead?.attemptsMade, dead?.failedReason]).toEqual([1, expect.stringContaining('payload')])
})

it('housekeeping tidies a repository with a circular replacement reference', async () => {
  const { project, bare, tip } = await pushedProject(harness)
  await git(bare, 'update-ref', `refs/replace/${tip}`, tip)
  await tidied(harness, project.id)
  expect(await git(bare, 'count-objects')).toMatch(/^0 objects/)
})

it('housekeeping removes the files of a push that broke off a day ago, and keeps those of one in progress', async () => {
  const { project, bare } = await pushedProject(harness)
  const [old, young] = ['tmp_objdir-incoming-old', 'tmp_objdir-incoming-young']
  for (const name of [old, young]) {
    await mkdir(join(bare, 'objects', name, 'pack'), { recursive: true })
    await writeFile(join(bare, 'objects', name, 'pack/tmp_pack_x'), 'half a pack')
  }
  await utimes(join(bare, 'objects', old), new Date(0), new Date(0))
  await tidied(harness, project.id)
  const left = await readdir(join(bare, 'objects'))
  expect([left.includes(old), left.includes(young)]).toEqual([false, true])
})
