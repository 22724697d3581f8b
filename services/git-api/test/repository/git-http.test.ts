import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { access, mkdir, readdir, utimes, writeFile } from 'node:fs/promises'
import { request as httpRequest } from 'node:http'
import { deflateSync } from 'node:zlib'
import { packetLine } from '@switchyard/git-storage/git-http'
import { createGitRepository, isolatedGitEnv, type TestGitRepository } from '@switchyard/testing'
import { execa } from 'execa'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type GitHarness, pushSample, sessionsOf, startGitHarness } from '../git-harness.js'

let harness: GitHarness
let work: TestGitRepository

beforeAll(async () => {
  harness = await startGitHarness()
  work = await createGitRepository()
  await work.commit({ files: { 'a.txt': 'a\n' } })
})
afterAll(async () => {
  await work?.close()
  await harness?.close()
})

/** Runs git and returns its standard error and exit code. */
function git(repository: TestGitRepository, ...args: string[]) {
  return new Promise<{ code: number; output: string }>((resolve) => {
    execFile('git', args, { cwd: repository.path, env: isolatedGitEnv() }, (error, stdout, stderr) => {
      resolve({ code: error ? Number(error.code) : 0, output: stdout + stderr })
    })
  })
}

test('clone, push and fetch carry a history unchanged', async () => {
  const { project, work: source, commits } = await pushSample(harness)
  const copy = await createGitRepository()
  await copy.git('fetch', '--quiet', harness.remote('reporter', project), 'main:copy', 'feature/x.y:side')
  expect(await copy.git('rev-parse', 'copy', 'side')).toBe(`${commits.third}\n${commits.side}`)
  const next = await source.commit({ files: { 'next.txt': 'next' } })
  await source.git('push', '--quiet', harness.remote('developer', project), 'main')
  await copy.git('fetch', '--quiet', harness.remote('reporter', project), 'main:copy')
  expect(await copy.git('rev-parse', 'copy')).toBe(next)
  await copy.git('fsck', '--strict')
  await copy.close()
})

test('a streamed answer causes no warning of a listener leak', async () => {
  const { project, commits } = await pushSample(harness)
  const warnings: Error[] = []
  const note = (warning: Error) => warnings.push(warning)
  process.on('warning', note)
  try {
    const copy = await createGitRepository()
    await copy.git('fetch', '--quiet', harness.remote('reporter', project), 'main')
    expect(await copy.git('rev-parse', 'FETCH_HEAD')).toBe(commits.third)
    await copy.close()
  } finally {
    process.off('warning', note)
  }
  expect(warnings).toEqual([])
})

test('shallow and partial clones work', async () => {
  const { project, commits } = await pushSample(harness)
  const copy = await createGitRepository()
  await copy.git('fetch', '--quiet', '--depth=1', harness.remote('reporter', project), 'main')
  expect(await copy.git('rev-list', 'FETCH_HEAD')).toBe(commits.third)
  const partial = await git(
    copy,
    'clone',
    '--quiet',
    '--filter=blob:none',
    '--no-checkout',
    harness.remote('reporter', project),
    'partial',
  )
  expect(partial).toMatchObject({ code: 0 })
  expect(await copy.git('-C', 'partial', 'show', 'HEAD:src/b c.txt')).toContain('six')
  await copy.close()
})

test('a large push is streamed, and is read back unchanged', async () => {
  const project = await harness.project()
  const source = await createGitRepository()
  const bytes = Buffer.alloc(24 * 1024 * 1024)
  for (let at = 0, seed = 1; at < bytes.length; at += 4) {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0
    bytes.writeUInt32LE(seed, at)
  }
  const head = await source.commit({ files: { 'big.bin': bytes } })
  await source.git('push', '--quiet', harness.remote('owner', project), 'main')
  const copy = await createGitRepository()
  await copy.git('fetch', '--quiet', harness.remote('owner', project), 'main')
  expect(await copy.git('rev-parse', 'FETCH_HEAD')).toBe(head)
  await Promise.all([source.close(), copy.close()])
})

test('a caller who may not see a project is asked for a token first, and then gets 404', async () => {
  const project = await harness.project()
  const ask = (who: Parameters<GitHarness['remote']>[0], path = '') => {
    const url = new URL(`${harness.remote(who, project)}/info/refs?service=git-upload-pack`)
    if (path) url.pathname = path
    const { username, password } = url
    url.username = ''
    url.password = ''
    const headers = username ? { Authorization: `Basic ${btoa(`${username}:${password}`)}` } : undefined
    return fetch(url, { headers })
  }
  const anonymous = await ask('anonymous')
  expect(anonymous.status).toBe(401)
  expect(anonymous.headers.get('WWW-Authenticate')).toMatch(/^Basic realm="Switchyard"/)
  expect((await ask('anonymous', '/nobody/nothing.git/info/refs')).status).toBe(401)
  expect((await ask('stranger')).status).toBe(404)
  expect((await ask('guest')).status).toBe(403)
  expect((await ask('narrow')).status).toBe(403)
  expect((await ask('reporter')).status).toBe(200)
  expect((await ask('readsRepository')).status).toBe(200)
})

test('a wrong token is answered with the request for a token', async () => {
  const project = await harness.project({ visibility: 'public' })
  const url = `${harness.remote('anonymous', project)}/info/refs?service=git-upload-pack`
  const response = await fetch(url, { headers: { Authorization: `Basic ${btoa('x:wrong')}` } })
  expect(response.status).toBe(401)
  expect(response.headers.get('WWW-Authenticate')).toMatch(/^Basic/)
})

test('a public project is cloned without a token, but not pushed to', async () => {
  const { project, commits } = await pushSample(harness, { visibility: 'public' })
  const copy = await createGitRepository()
  await copy.git('fetch', '--quiet', harness.remote('anonymous', project), 'main')
  expect(await copy.git('rev-parse', 'FETCH_HEAD')).toBe(commits.third)
  expect(
    (await git(copy, 'push', harness.remote('anonymous', project), 'FETCH_HEAD:refs/heads/new')).code,
  ).not.toBe(0)
  await copy.close()
})

test('reporters and reading tokens cannot push', async () => {
  const project = await harness.project()
  for (const who of ['reporter', 'readsRepository', 'stranger'] as const) {
    expect((await git(work, 'push', harness.remote(who, project), 'main')).code).not.toBe(0)
  }
  expect(await createdBranches(project)).toBe('')
})

async function createdBranches(project: Awaited<ReturnType<GitHarness['project']>>) {
  return work.git('ls-remote', harness.remote('owner', project), 'refs/heads/*')
}

test('a protected branch refuses a developer, and the other branches of the push are accepted', async () => {
  const project = await harness.project()
  await protect(project.id, { name: 'main', pushAccessLevel: 40 })
  const result = await git(work, 'push', harness.remote('developer', project), 'main', 'main:refs/heads/free')
  expect(result.code).toBe(1)
  expect(result.output).toContain('You are not allowed to push into this branch: main')
  expect(await createdBranches(project)).toMatch(/refs\/heads\/free$/)
  expect((await git(work, 'push', harness.remote('owner', project), 'main')).code).toBe(0)
})

test('a protected branch cannot be rewritten or deleted, unless that is allowed', async () => {
  const project = await harness.project()
  await protect(project.id, { name: 'release/*', pushAccessLevel: 30 })
  await protect(project.id, { name: 'wild/*', pushAccessLevel: 30, allowForcePush: true })
  const other = await createGitRepository()
  await other.commit({ files: { 'b.txt': 'other' } })
  const remote = harness.remote('developer', project)
  const branches = ['release/1', 'wild/1', 'free']
  for (const branch of ['main', ...branches])
    expect((await git(work, 'push', remote, `main:refs/heads/${branch}`)).code).toBe(0)

  const forced = await git(other, 'push', '--force', remote, ...branches.map((b) => `main:refs/heads/${b}`))
  expect(forced.output).toContain('You are not allowed to force push into this protected branch: release/1')
  expect(forced.output).not.toContain('wild/1 (hook')
  const head = await other.git('rev-parse', 'HEAD')
  const lines = (await createdBranches(project)).split('\n').filter((line) => line.startsWith(head))
  expect(lines.map((line) => line.split('\t')[1])).toEqual(['refs/heads/free', 'refs/heads/wild/1'])

  const deleted = await git(other, 'push', remote, ':release/1', ':free')
  expect(deleted.output).toContain('You are not allowed to delete this protected branch: release/1')
  expect(await createdBranches(project)).toMatch(/release\/1/)
  expect(await createdBranches(project)).not.toMatch(/free/)
  await other.close()
})

async function protect(
  projectId: number,
  rule: { name: string; pushAccessLevel: number; allowForcePush?: boolean },
) {
  await harness.database.prisma.protectedBranch.create({ data: { projectId, ...rule } })
}

test('hooks inside a stored repository never run', async () => {
  const project = await harness.project()
  const hooks = `${harness.pathOf(project)}/hooks`
  await mkdir(hooks, { recursive: true })
  for (const hook of ['pre-receive', 'update', 'post-receive', 'reference-transaction']) {
    await writeFile(`${hooks}/${hook}`, `#!/bin/sh\ntouch ${hooks}/ran\n`, { mode: 0o755 })
  }
  expect((await git(work, 'push', harness.remote('owner', project), 'main')).code).toBe(0)
  await expect(access(`${hooks}/ran`)).rejects.toThrow()
})

test('a tree with a disguised .git is refused', async () => {
  const project = await harness.project()
  const evil = await createGitRepository()
  await evil.commit({ files: { 'a.txt': 'a' } })
  const blob = await evil.git('rev-parse', 'HEAD:a.txt')
  const mktree = await execa('git', ['mktree'], { cwd: evil.path, input: `100644 blob ${blob}\t.GIT\n` })
  const commit = await evil.git(
    '-c',
    'user.name=e',
    '-c',
    'user.email=e@x',
    'commit-tree',
    '-m',
    'x',
    mktree.stdout,
  )
  const result = await git(evil, 'push', harness.remote('owner', project), `${commit}:refs/heads/evil`)
  expect(result.code).toBe(1)
  expect(result.output).toContain('hasDotgit')
  await evil.close()
})

test('unknown services, content types and verbs get documented answers', async () => {
  const project = await harness.project({ visibility: 'public' })
  const base = harness.remote('anonymous', project)
  expect((await fetch(`${base}/info/refs?service=git-upload-archive`)).status).toBe(400)
  expect((await fetch(`${base}/info/refs`)).status).toBe(400)
  expect((await fetch(`${base}/git-upload-pack`, { method: 'POST', body: 'x' })).status).toBe(415)
  expect((await fetch(`${base}/git-upload-pack`)).status).toBe(405)
})

test('pushes and API commits that race for one branch succeed or are refused, and nothing is lost', async () => {
  const project = await harness.project()
  expect((await git(work, 'push', harness.remote('owner', project), 'main')).code).toBe(0)
  const sources = await Promise.all([0, 1, 2].map(() => createGitRepository()))
  const heads = await Promise.all(
    sources.map(async (source, number) => {
      await source.git('pull', '--quiet', harness.remote('owner', project), 'main')
      return source.commit({ files: { [`pushed-${number}`]: `${number}` } })
    }),
  )
  const [pushed, made] = await Promise.all([
    Promise.all(sources.map((source) => git(source, 'push', harness.remote('developer', project), 'main'))),
    Promise.all([0, 1, 2].map((number) => commitOver(project, { [`made-${number}`]: `${number}` }))),
  ])
  for (const { code, output } of pushed) {
    if (code !== 0)
      expect(output).toMatch(/\[(?:remote )?rejected\]|cannot lock ref|fetch first|non-fast-forward/)
  }
  const winners = heads.filter((_, number) => pushed[number]?.code === 0)
  const ids = await Promise.all(
    made
      .filter(({ status }) => status === 201)
      .map(async (answer) => ((await answer.json()) as { id: string }).id),
  )
  // An API commit is rebased onto the newest tip; a push never is.
  expect([made.map(({ status }) => status), winners.length <= 1]).toEqual([[201, 201, 201], true])
  const log = await work.git('ls-remote', harness.remote('owner', project), 'refs/heads/main')
  const reachable = await bareGit(project, 'rev-list', log.slice(0, 40))
  for (const id of [...winners, ...ids]) expect(reachable).toContain(id)
  expect(await bareGit(project, 'fsck', '--strict', '--no-dangling')).toBe('')
  await Promise.all(sources.map((source) => source.close()))
})

const commitOver = ({ id }: { id: number }, files: Record<string, string>) =>
  harness.send('developer', 'POST', `/projects/${id}/repository/commits`, {
    branch: 'main',
    commit_message: 'Over the API',
    actions: Object.entries(files).map(([file_path, content]) => ({ action: 'create', file_path, content })),
  })

const bareGit = async (project: Parameters<GitHarness['pathOf']>[0], ...args: string[]) =>
  (await execa('git', ['--git-dir', harness.pathOf(project), ...args], { env: isolatedGitEnv() })).stdout

/** Returns the beginning of a push that creates one reference, up to its pack. */
function pushOf(ref: string): string {
  return `${packetLine(`${'0'.repeat(40)} ${'1'.repeat(40)} ${ref}\0report-status`)}0000`
}

test('a push that breaks off leaves none of its objects', async () => {
  const project = await harness.project()
  const url = new URL(harness.remote('owner', project))
  const quarantined = async () => {
    const names = await readdir(`${harness.pathOf(project)}/objects`, { recursive: true })
    return names.filter((name) => /tmp_objdir.*tmp_pack/.test(name))
  }
  const request = httpRequest(`${url.origin}${url.pathname}/git-receive-pack`, {
    method: 'POST',
    headers: {
      Authorization: `Basic ${btoa(`${url.username}:${url.password}`)}`,
      'Content-Type': 'application/x-git-receive-pack-request',
    },
  })
  request.on('error', () => {})
  request.write(pushOf('refs/heads/main'))
  // git writes a pack for this many objects: version 2, 200 objects, the first one a file of 8 MB.
  request.write(Buffer.from('PACK\0\0\0\x02\0\0\0\xc8\xb0\x80\x80\x20', 'latin1'))
  request.write(deflateSync(randomBytes(8 * 1024 * 1024), { level: 0 }).subarray(0, 4 * 1024 * 1024))
  await expect.poll(quarantined).toHaveLength(1)
  request.destroy()
  await expect.poll(() => sessionsOf(harness, project)).toEqual([])
  expect(await quarantined()).toEqual([])
})

test('a client that disconnects during a push or a clone ends its git process', async () => {
  const project = await harness.project()
  const url = new URL(harness.remote('owner', project))
  const headers = { Authorization: `Basic ${btoa(`${url.username}:${url.password}`)}` }
  for (const service of ['git-receive-pack', 'git-upload-pack']) {
    const request = httpRequest(`${url.origin}${url.pathname}/${service}`, {
      method: 'POST',
      headers: { ...headers, 'Content-Type': `application/x-${service}-request` },
    })
    request.on('error', () => {})
    request.write(service === 'git-upload-pack' ? '0032want' : pushOf('refs/heads/main'))
    await expect.poll(() => sessionsOf(harness, project)).toHaveLength(1)
    request.destroy()
    await expect.poll(() => sessionsOf(harness, project)).toEqual([])
  }
})

test('a lock that a killed process left does not block pushes for ever', async () => {
  const project = await harness.project()
  const branches = ['main', 'main:refs/heads/a/b']
  expect((await git(work, 'push', harness.remote('owner', project), ...branches)).code).toBe(0)
  const lock = `${harness.pathOf(project)}/refs/heads/a/b.lock`
  await writeFile(lock, '')
  await utimes(lock, new Date(0), new Date(0))
  expect((await git(work, 'push', harness.remote('owner', project), ':refs/heads/a/b')).code).toBe(0)
})

test('a push cannot create branches whose names the API refuses', async () => {
  const { project } = await pushSample(harness)
  for (const name of ['-x', '--upload-pack=touch', 'HEAD', 'refs/heads/main', 'a'.repeat(40)]) {
    const pushed = await git(work, 'push', harness.remote('owner', project), `main:refs/heads/${name}`)
    expect(pushed).toMatchObject({ code: 1, output: expect.stringContaining('Branch name is invalid') })
  }
})

test('settings behind a symbolic link are refused', async () => {
  const project = await harness.project()
  const blob = await work.git('rev-parse', 'main:a.txt')
  const entry = `120000 blob ${blob}\t.gitmodules\n`
  const { stdout: tree } = await execa('git', ['mktree'], { cwd: work.path, input: entry })
  const identity = ['-c', 'user.name=e', '-c', 'user.email=e@x']
  const commit = await work.git(...identity, 'commit-tree', '-m', 'x', tree)
  const result = await git(work, 'push', harness.remote('owner', project), `${commit}:refs/heads/evil`)
  expect([result.code, result.output]).toEqual([1, expect.stringContaining('gitmodulesSymlink')])
})

test.runIf(process.getuid?.() === 0)(
  'a repository of another operating-system user is served like any other',
  async () => {
    const { project, commits } = await pushSample(harness)
    await execa('chown', ['-R', '65534:65534', harness.pathOf(project)])
    const copy = await createGitRepository()
    await copy.git('fetch', '--quiet', harness.remote('owner', project), 'main')
    expect(await copy.git('rev-parse', 'FETCH_HEAD')).toBe(commits.third)
    expect((await commitOver(project, { 'more.txt': 'm' })).status).toBe(201)
    expect(
      (await harness.send('owner', 'GET', `/projects/${project.id}/repository/commits/main/diff`)).status,
    ).toBe(200)
    await copy.close()
  },
)
