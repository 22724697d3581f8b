import { createHash } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { deflateSync } from 'node:zlib'
import type { Project } from '@switchyard/db'
import { createGitRepository, isolatedGitEnv } from '@switchyard/testing'
import { execa } from 'execa'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type GitHarness, startGitHarness } from '../git-harness.js'

let harness: GitHarness
beforeAll(async () => {
  harness = await startGitHarness()
})
afterAll(() => harness?.close())

const depth = 4_000
/** A separate request to git for each folder takes longer than this, even on an idle machine. */
const timeMsMax = 8_000

/** Stores an object with git. @returns its id */
async function store(path: string, type: string, content: Buffer): Promise<string> {
  const bytes = Buffer.concat([Buffer.from(`${type} ${content.length}\0`), content])
  const id = createHash('sha1').update(bytes).digest('hex')
  await mkdir(join(path, 'objects', id.slice(0, 2)), { recursive: true })
  await writeFile(join(path, 'objects', id.slice(0, 2), id.slice(2)), deflateSync(bytes))
  return id
}

/** Creates a branch whose only file, `f`, is below nested folders of this name. */
async function nested(project: Project, branch: string, name: string, levels: number): Promise<void> {
  const path = harness.pathOf(project)
  const entry = (mode: string, of: string, id: string) =>
    Buffer.concat([Buffer.from(`${mode} ${of}\0`, 'latin1'), Buffer.from(id, 'hex')])
  const blob = await store(path, 'blob', Buffer.from('text\n'))
  let tree = await store(path, 'tree', entry('100644', 'f', blob))
  for (let level = 0; level < levels; level += 1) tree = await store(path, 'tree', entry('40000', name, tree))
  const author = 'A <a@example.com> 1700000000 +0000'
  const content = `tree ${tree}\nauthor ${author}\ncommitter ${author}\n\nDeep\n`
  const commit = await store(path, 'commit', Buffer.from(content))
  const env = isolatedGitEnv()
  await execa('git', ['--git-dir', path, 'update-ref', `refs/heads/${branch}`, commit], {
    env,
    extendEnv: false,
  })
}

const encoded = (path: string) => encodeURIComponent(path)

async function timed(project: Project, method: string, path: string, body?: object) {
  const startedMs = performance.now()
  const response = await harness.send('developer', method, `/projects/${project.id}/repository/${path}`, body)
  const text = await response.text()
  return { status: response.status, text, tookMs: performance.now() - startedMs }
}

describe(`a file in ${depth} folders`, () => {
  const folder = Array(depth).fill('d').join('/')
  const file = encoded(`${folder}/f`)
  /** The longest possible path parameter of a list. */
  const half = encoded(Array(2_000).fill('d').join('/'))
  let project: Project
  beforeAll(async () => {
    project = await harness.project()
    await nested(project, 'main', 'd', depth)
  })

  test.each([
    ['files', `files/${file}?ref=main`, '"size":5'],
    ['raw', `files/${file}/raw?ref=main`, 'text\n'],
    ['blame', `files/${file}/blame?ref=main`, '"text"'],
    ['tree', `tree?ref=main&path=${half}`, '"type":"tree"'],
    ['commits of a path', `commits?ref_name=main&path=${half}`, '"title":"Deep"'],
    ['diff', 'commits/main/diff', '"new_file":true'],
    ['compare', 'compare?from=main&to=main', '"compare_same_ref":true'],
  ])('%s answers in time', async (_name, path, part) => {
    const { status, text, tookMs } = await timed(project, 'GET', path)
    expect([status, text.includes(part)], text.slice(0, 300)).toEqual([200, true])
    expect(tookMs).toBeLessThan(timeMsMax)
  })

  test('an archive that crashes git is refused with a reason', async () => {
    for (const format of ['zip', 'tar', 'tar.gz', 'tar.bz2']) {
      const { status, text, tookMs } = await timed(project, 'GET', `archive.${format}?sha=main`)
      expect([status, JSON.parse(text).message]).toEqual([
        422,
        'git cannot process this: the folders may be nested too deeply',
      ])
      expect(tookMs).toBeLessThan(timeMsMax)
    }
  })

  test('a missing path is 404 within the time limit', async () => {
    for (const path of [`${folder}/g`, `${folder}/f/g`, `${folder}/./f`, '../f', './f', 'd^{tree}/f']) {
      const { status, tookMs } = await timed(project, 'GET', `files/${encoded(path)}?ref=main`)
      expect([400, 404]).toContain(status)
      expect(tookMs).toBeLessThan(timeMsMax)
    }
  })
})

test('commits change files at the greatest depth within the time limit', async () => {
  const project = await harness.project()
  await nested(project, 'main', 'd', 2_000)
  const folder = Array(2_000).fill('d').join('/')
  const commit = (action: object) =>
    timed(project, 'POST', 'commits', { branch: 'main', commit_message: 'Change', actions: [action] })
  const actions = [
    { action: 'create', file_path: `${folder}/g`, content: 'new\n' },
    { action: 'update', file_path: `${folder}/f`, content: 'other\n' },
    { action: 'move', file_path: `${folder}/h`, previous_path: `${folder}/g` },
    { action: 'delete', file_path: `${folder}/f` },
  ]
  for (const action of actions) {
    const { status, text, tookMs } = await commit(action)
    expect(status, text.slice(0, 300)).toBe(201)
    expect(tookMs).toBeLessThan(2 * timeMsMax)
  }
  expect((await timed(project, 'GET', `files/${encoded(`${folder}/h`)}/raw?ref=main`)).text).toBe('new\n')
  const env = isolatedGitEnv()
  await execa('git', ['--git-dir', harness.pathOf(project), 'fsck', '--full'], { env, extendEnv: false })
})

test('names that look like revisions, and names that git cannot read from a line, are found unchanged', async () => {
  const project = await harness.project()
  const work = await createGitRepository()
  const tip = await work.commit({ files: { 'first.txt': '1' } })
  const folders = [
    'a^0',
    'b~1',
    `v1-g${tip.slice(0, 8)}`,
    'c^{tree}',
    'with blank',
    'line\nbreak',
    'x:y',
    '@{1}',
    'é',
  ]
  await work.commit({ files: Object.fromEntries(folders.map((name) => [`${name}/f.txt`, name])) })
  await work.git('push', '--quiet', harness.remote('developer', project), 'HEAD:main')
  for (const name of folders) {
    const raw = await timed(project, 'GET', `files/${encoded(`${name}/f.txt`)}/raw?ref=main`)
    expect([raw.status, raw.text]).toEqual([200, name])
    const tree = await timed(project, 'GET', `tree?ref=main&path=${encoded(name)}`)
    expect(JSON.parse(tree.text)).toMatchObject([{ name: 'f.txt', type: 'blob' }])
  }
})

test('blame and commits read authors and messages that are not UTF-8 as Latin-1', async () => {
  const project = await harness.project()
  const path = harness.pathOf(project)
  const blob = await store(path, 'blob', Buffer.from('caf\xe9\nplain\n', 'latin1'))
  const tree = await store(path, 'tree', Buffer.concat([Buffer.from('100644 f\0'), Buffer.from(blob, 'hex')]))
  const author = 'Jos\xe9 <j@example.com> 1700000000 +0000'
  const text = `tree ${tree}\nauthor ${author}\ncommitter ${author}\n\nna\xefve\n`
  const commit = await store(path, 'commit', Buffer.from(text, 'latin1'))
  const env = isolatedGitEnv()
  await execa('git', ['--git-dir', path, 'update-ref', 'refs/heads/main', commit], { env, extendEnv: false })
  const ask = async (what: string) => JSON.parse((await timed(project, 'GET', what)).text)
  expect(await ask('files/f/blame?ref=main')).toMatchObject([
    { commit: { author_name: 'José', message: 'naïve\n' }, lines: ['café', 'plain'] },
  ])
  expect(await ask('commits/main')).toMatchObject({ author_name: 'José', title: 'naïve' })
  expect(await ask('contributors')).toMatchObject([{ name: 'José', commits: 1 }])
})
