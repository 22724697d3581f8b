import type { Project } from '@switchyard/db'
import { createGitRepository, isolatedGitEnv, type TestGitRepository } from '@switchyard/testing'
import { execa } from 'execa'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type GitHarness, startGitHarness } from '../git-harness.js'

/** A name in Latin-1, which is not UTF-8, and its form in diffs. */
const stored = Buffer.from('d\xefr/\xe9byte "1".txt', 'latin1')
const shown = '"d\\357r/\\351byte \\"1\\".txt"'
/** An ordinary name that equals the displayed form of another file. */
const plain = '"\\351.txt"'
const plainShown = '"\\"\\\\351.txt\\""'

let harness: GitHarness
let project: Project
let work: TestGitRepository
let added: string
let changed: string

beforeAll(async () => {
  harness = await startGitHarness()
  project = await harness.project()
  work = await createGitRepository()
  await work.commit({ files: { 'README.md': '# x\n' } })
  added = await commitOdd('one\ntwo\nthree\n', 'Add')
  changed = await commitOdd('one\ntwo\nthree\nfour\n', 'Change')
  await work.git('push', '--quiet', harness.remote('owner', project), `${changed}:refs/heads/main`)
  await work.git('reset', '--quiet', '--hard', changed)
})
afterAll(async () => {
  await work?.close()
  await harness?.close()
})

/** Commits bytes under the odd name, and under the ordinary name that looks like another one. */
async function commitOdd(content: string, message: string): Promise<string> {
  const run = async (args: string[], input: string | Buffer = '') => {
    const options = { cwd: work.path, env: isolatedGitEnv(), extendEnv: false, input } as const
    return (await execa('git', ['-c', 'user.name=T', '-c', 'user.email=t@x', ...args], options)).stdout
  }
  const blob = await run(['hash-object', '-w', '--stdin'], content)
  const entries = [stored, Buffer.from(plain)].map((name) =>
    Buffer.concat([Buffer.from(`100644 ${blob}\t`), name, Buffer.from('\0')]),
  )
  await run(['update-index', '-z', '--index-info'], Buffer.concat(entries))
  await run(['commit', '--quiet', '-m', message])
  return run(['rev-parse', 'HEAD'])
}

async function send(method: string, path: string, body?: unknown) {
  const response = await harness.send(
    'developer',
    method,
    `/projects/${project.id}/repository/commits${path}`,
    body,
  )
  return { status: response.status, body: (await response.json()) as never }
}

const pathsOf = async (sha: string) =>
  ((await send('GET', `/${sha}/diff`)).body as { new_path: string; old_path: string }[]).map(
    (entry) => entry.new_path,
  )

const idsAt = async (path: string, query = '') => {
  const { body } = await send('GET', `?path=${encodeURIComponent(path)}${query}`)
  return (body as { id: string }[]).map(({ id }) => id)
}

const commit = (action: Record<string, unknown>) =>
  send('POST', '', { branch: 'main', commit_message: 'm', actions: [action] }) as Promise<{
    status: number
    body: { id: string }
  }>

test('a diff shows a name that is not UTF-8 in quotes, and each name in a unique form', async () => {
  expect(await pathsOf(added)).toEqual([plainShown, shown])
})

test.each([shown, `/${shown}`, plainShown])('the list finds the commits of %s', async (path) => {
  expect(await idsAt(path)).toEqual([changed, added])
  expect(await idsAt(path, '&all=true')).toEqual([changed, added])
  expect(await idsAt(path, '&author=t%40x&first_parent=true')).toEqual([changed, added])
})

test('the list finds the folder of such a file, and nothing under another form of its name', async () => {
  expect(await idsAt('"d\\357r"')).toEqual([changed, added])
  for (const path of ['"\\351.txt"', '"d\\357r/\\000"', '"../\\351"', '"\\351\\', 'd\ufffdr']) {
    expect(await idsAt(path), path).toEqual([])
  }
})

test('a path that git cannot look up is refused', async () => {
  const path = encodeURIComponent('"d\\357r/\\n"')
  expect(await send('GET', `?path=${path}`)).toMatchObject({
    status: 400,
    body: { message: 'git cannot be asked about a path that is not UTF-8 and has a line break' },
  })
})

test('redundant slashes are ignored wherever a file is named', async () => {
  const files = `/projects/${project.id}/repository/files`
  for (const path of ['/README.md', 'README.md/', '//README.md//', '/etc/passwd']) {
    const one = `${files}/${encodeURIComponent(path)}`
    const name = path.split('/').filter(Boolean).join('/')
    if (name !== 'README.md') {
      const made = { branch: 'main', commit_message: 'Create', content: 'one\n' }
      expect(await harness.ask('developer', 'POST', one, made)).toMatchObject({ status: 201 })
    }
    const found = await harness.ask('developer', 'GET', `${one}?ref=main`)
    expect([found.status, found.body.file_path]).toEqual([200, name])
    expect((await harness.ask('developer', 'GET', `${one}/blame?ref=main`)).body).toHaveLength(1)
    expect((await harness.send('developer', 'GET', `${one}/raw?ref=main`)).status).toBe(200)
  }
})

test('a comment is at a line of such a file', async () => {
  const about = { note: 'four', path: shown, line: 4, line_type: 'new' }
  expect(await send('POST', `/${changed}/comments`, about)).toMatchObject({ status: 201, body: about })
  const old = { note: 'three', path: plainShown, line: 3, line_type: 'old' }
  expect(await send('POST', `/${changed}/comments`, old)).toMatchObject({ status: 201, body: old })
  const beyond = { ...old, line: 4 }
  expect((await send('POST', `/${changed}/comments`, beyond)).body).toMatchObject({ path: null, line: null })
})

test('actions create, change, move and remove files by such names', async () => {
  const updated = await commit({
    action: 'update',
    file_path: shown,
    content: 'x\n',
    last_commit_id: changed,
  })
  expect(updated.status).toBe(201)
  expect(await pathsOf(updated.body.id)).toEqual([shown])
  const stale = { action: 'update', file_path: shown, content: 'y\n', last_commit_id: changed }
  expect((await commit(stale)).status).toBe(400)

  const other = '"n\\351w.txt"'
  const moved = await commit({ action: 'move', file_path: other, previous_path: shown })
  const { body } = await send('GET', `/${moved.body.id}/diff`)
  expect(body).toMatchObject([{ old_path: shown, new_path: other, renamed_file: true }])
  // The history continues under the former name.
  expect(await idsAt(other)).toEqual([moved.body.id, updated.body.id, changed, added])

  expect((await commit({ action: 'chmod', file_path: other, execute_filemode: true })).status).toBe(201)
  expect((await commit({ action: 'create', file_path: other, content: '' })).body).toMatchObject({
    message: 'A file with this name already exists',
    file_path: other,
  })
  const removed = await commit({ action: 'delete', file_path: other })
  expect(await pathsOf(removed.body.id)).toEqual([other])
  const created = await commit({
    action: 'create',
    file_path: plainShown.replace('351', '352'),
    content: 'z',
  })
  expect(await pathsOf(created.body.id)).toEqual([plainShown.replace('351', '352')])
})

test.each([
  '"../\\351"',
  '".git/\\351"',
  '".g\\351/../x"',
  '"\\351/.GIT/x"',
  '".git\\351/x"',
  '"a/\\000\\351"',
])('no such name leads out of the tree, or to the folder of git: %s', async (file_path) => {
  expect((await commit({ action: 'create', file_path, content: '' })).status).toBe(400)
})
