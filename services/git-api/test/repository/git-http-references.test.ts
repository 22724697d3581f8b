import { execFile } from 'node:child_process'
import type { Project } from '@switchyard/db'
import { packetLine } from '@switchyard/git-storage/git-http'
import { createGitRepository, isolatedGitEnv, type TestGitRepository, waitFor } from '@switchyard/testing'
import { execa } from 'execa'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type GitHarness, startGitHarness } from '../git-harness.js'

let harness: GitHarness
let work: TestGitRepository
let head: string

beforeAll(async () => {
  harness = await startGitHarness({ env: { WEBHOOK_ALLOWED_HOSTS: '127.0.0.1' } })
  work = await createGitRepository()
  head = await work.commit({ files: { 'a.txt': 'a\n' } })
})
afterAll(async () => {
  await work?.close()
  await harness?.close()
})

/** Runs git and returns its output and exit code. */
function git(...args: string[]) {
  return new Promise<{ code: number; output: string }>((resolve) => {
    execFile('git', args, { cwd: work.path, env: isolatedGitEnv() }, (error, stdout, stderr) => {
      resolve({ code: error ? Number(error.code) : 0, output: stdout + stderr })
    })
  })
}

type Who = Parameters<GitHarness['remote']>[0]
const push = (who: Who, project: Project, ...args: string[]) =>
  git('push', harness.remote(who, project), ...args)

/** Returns the names of all references of a repository, including hidden ones. */
async function referencesOf(project: Project): Promise<string[]> {
  const path = harness.pathOf(project)
  const { stdout } = await execa('git', ['--git-dir', path, 'for-each-ref', '--format=%(refname)'])
  return stdout.split('\n').filter(Boolean)
}

const storedGit = (project: Project, ...args: string[]) =>
  execa('git', ['--git-dir', harness.pathOf(project), ...args], { env: isolatedGitEnv() })

const protect = (project: Project, name: string, pushAccessLevel: number, allowForcePush = false) =>
  harness.database.prisma.protectedBranch.create({
    data: { projectId: project.id, name, pushAccessLevel, allowForcePush },
  })

describe('references that may not be pushed', () => {
  test.for([
    ['refs/merge-requests/1/head', 'can be pushed to, not refs/merge-requests/1/head'],
    ['refs/replace/abc', 'can be pushed to, not refs/replace/abc'],
    ['refs/pipelines/1', 'hidden ref'],
    ['refs/keep-around/abc', 'hidden ref'],
    ['refs/environments/1', 'hidden ref'],
    ['refs/tags/-x', 'Tag name is invalid: -x'],
    ['refs/tags/HEAD', 'Tag name is invalid: HEAD'],
    ['refs/tags/refs/heads/main', 'Tag name is invalid: refs/heads/main'],
    [`refs/tags/${'a'.repeat(40)}`, 'Tag name is invalid'],
    [`refs/heads/${'a'.repeat(64)}`, 'Branch name is invalid'],
  ] as const)('%s is refused by name, and the branch beside it goes through', async ([ref, reason]) => {
    const project = await harness.project()
    const { code, output } = await push('owner', project, `main:${ref}`, 'main')
    expect([code, output]).toEqual([1, expect.stringContaining(reason)])
    expect(await referencesOf(project)).toEqual(['refs/heads/main'])
  })

  test('a reference that exists already is deleted only by a maintainer', async () => {
    const project = await harness.project()
    await push('owner', project, 'main')
    await storedGit(project, 'update-ref', 'refs/merge-requests/1/head', head)
    await storedGit(project, 'update-ref', 'refs/tags/HEAD', head)
    const refused = await push('developer', project, ':refs/merge-requests/1/head', ':refs/tags/HEAD')
    expect(refused.output).toContain('Only maintainers may delete this reference: refs/merge-requests/1/head')
    expect(await referencesOf(project)).toEqual(['refs/heads/main', 'refs/merge-requests/1/head'])
    expect((await push('owner', project, ':refs/merge-requests/1/head')).code).toBe(0)
    expect(await referencesOf(project)).toEqual(['refs/heads/main'])
  })

  test('notes are pushed only by maintainers', async () => {
    const project = await harness.project()
    const refused = await push('developer', project, 'main', 'main:refs/notes/commits')
    expect(refused.output).toContain('Only maintainers may push notes: refs/notes/commits')
    expect((await push('owner', project, 'main:refs/notes/commits')).code).toBe(0)
    expect(await referencesOf(project)).toEqual(['refs/heads/main', 'refs/notes/commits'])
  })

  test('a name with a blank does not get the permission of a shorter name', async () => {
    const project = await harness.project()
    await push('owner', project, 'main')
    await protect(project, 'main', 0)
    const zero = '0'.repeat(40)
    const commands = [
      `${head} ${zero} refs/heads/main\0report-status\n`,
      `${head} ${zero} refs/heads/main x\n`,
    ]
    const url = new URL(harness.remote('developer', project))
    const response = await fetch(`${url.origin}${url.pathname}/git-receive-pack`, {
      method: 'POST',
      headers: {
        Authorization: `Basic ${btoa(`${url.username}:${url.password}`)}`,
        'Content-Type': 'application/x-git-receive-pack-request',
      },
      body: `${commands.map(packetLine).join('')}0000`,
    })
    expect(await response.text()).toContain('ng refs/heads/main ')
    expect(await referencesOf(project)).toEqual(['refs/heads/main'])
  })
})

describe('branches', () => {
  test('the default branch cannot be deleted, a protected one only by maintainers', async () => {
    const project = await harness.project()
    await push('owner', project, 'main', 'main:refs/heads/release/1', 'main:refs/heads/release/2')
    await protect(project, 'release/*', 30, true)
    const refused = await push('owner', project, ':main')
    expect(refused.output).toContain('The default branch of a project cannot be deleted.')
    expect((await push('developer', project, ':release/1')).output).toContain(
      'You are not allowed to delete this protected branch: release/1',
    )
    expect((await push('owner', project, ':release/1')).code).toBe(0)
    expect(await referencesOf(project)).toEqual(['refs/heads/main', 'refs/heads/release/2'])
  })

  test('many protected branches move forward in one push, and those that would lose commits are refused', async () => {
    const project = await harness.project()
    const source = await createGitRepository()
    const base = await source.commit({ files: { a: '1' } })
    const names = Array.from({ length: 30 }, (_, number) => `b${number}`)
    const remote = harness.remote('developer', project)
    await source.git('push', '--quiet', remote, ...names.map((name) => `${base}:refs/heads/${name}`))
    const ahead = await source.commit({ files: { a: '2' } })
    const further = await source.commit({ files: { a: '3' } })
    await source.git('push', '--quiet', remote, `${further}:refs/heads/b0`)
    await source.git('switch', '--quiet', '--orphan', 'other')
    const unrelated = await source.commit({ files: { b: '1' } })
    await protect(project, '*', 30)
    const targets = names.map((_, number) => (number % 3 === 1 ? unrelated : ahead))
    const specs = names.map((name, number) => `${targets[number]}:refs/heads/${name}`)
    const result = await execa('git', ['push', '--force', remote, ...specs], {
      cwd: source.path,
      env: isolatedGitEnv(),
      reject: false,
      all: true,
    })
    // b0 was further ahead already.
    const losing = names.filter((_, number) => number === 0 || number % 3 === 1)
    const refused = [...result.all.matchAll(/force push into this protected branch: (\w+)/g)]
    expect(refused.map(([, name]) => name).toSorted()).toEqual(losing.toSorted())
    const { stdout } = await storedGit(project, 'for-each-ref', '--format=%(refname:short) %(objectname)')
    const expected = names.map((name, number) =>
      losing.includes(name) ? `${name} ${number === 0 ? further : base}` : `${name} ${ahead}`,
    )
    expect(stdout.split('\n').toSorted()).toEqual(expected.toSorted())
    await source.close()
  })

  test('a pattern that is designed to be slow delays neither pushes nor commits', async () => {
    const project = await harness.project()
    const name = `${'*a'.repeat(24)}*b`
    const made = await harness.send('owner', 'POST', `/projects/${project.id}/protected_branches`, { name })
    expect(made.status).toBe(201)
    const branch = 'a'.repeat(60)
    const startedAt = performance.now()
    expect((await push('developer', project, `main:refs/heads/${branch}`)).code).toBe(0)
    const body = {
      branch,
      commit_message: 'm',
      actions: [{ action: 'create', file_path: 'b', content: '' }],
    }
    const path = `/projects/${project.id}/repository/commits`
    expect((await harness.send('developer', 'POST', path, body)).status).toBe(201)
    // This limit detects a standstill.
    expect(performance.now() - startedAt).toBeLessThan(20_000)
  })
})

describe('pushes of git', () => {
  test('an atomic push with one refused reference changes nothing', async () => {
    const project = await harness.project()
    await protect(project, 'main', 40)
    const { code, output } = await push('developer', project, '--atomic', 'main', 'main:refs/heads/free')
    expect([code, output]).toEqual([
      1,
      expect.stringContaining('You are not allowed to push into this branch: main'),
    ])
    expect(output).toContain('Another reference of this atomic push is refused')
    expect(await referencesOf(project)).toEqual([])
    expect((await push('owner', project, '--atomic', 'main', 'main:refs/heads/free')).code).toBe(0)
    expect(await referencesOf(project)).toEqual(['refs/heads/free', 'refs/heads/main'])
  })

  test.each(['0', '1', '2'])('clients of protocol version %s push, fetch and delete', async (version) => {
    const project = await harness.project()
    const configured = ['-c', `protocol.version=${version}`]
    const remote = harness.remote('developer', project)
    expect((await git(...configured, 'push', remote, 'main', 'main:refs/tags/v1')).code).toBe(0)
    expect((await git(...configured, 'ls-remote', remote)).output).toContain(`${head}\trefs/tags/v1`)
    expect((await git(...configured, 'fetch', remote, 'v1')).code).toBe(0)
    expect((await git(...configured, 'push', '--delete', remote, 'v1')).code).toBe(0)
    expect(await referencesOf(project)).toEqual(['refs/heads/main'])
  })

  test('--follow-tags, --mirror and --force work', async () => {
    const project = await harness.project()
    const source = await createGitRepository()
    await source.commit({ files: { a: '1' } })
    const identity = ['-c', 'user.name=t', '-c', 'user.email=t@example.com']
    await source.git(...identity, 'tag', '-a', '-m', 'annotated', 'v1')
    const remote = harness.remote('owner', project)
    await source.git('push', '--quiet', '--follow-tags', remote, 'main')
    expect(await referencesOf(project)).toEqual(['refs/heads/main', 'refs/tags/v1'])

    await source.git('update-ref', 'refs/remotes/origin/main', 'main')
    await source.git('tag', '-d', 'v1')
    await source.git('branch', 'more')
    await expect(source.git('push', '--quiet', '--mirror', remote)).rejects.toThrow(
      'not refs/remotes/origin/main',
    )
    expect(await referencesOf(project)).toEqual(['refs/heads/main', 'refs/heads/more'])

    await source.git(...identity, 'commit', '--quiet', '--amend', '--allow-empty', '-m', 'amended')
    await source.git('push', '--quiet', '--force', remote, 'main')
    expect((await storedGit(project, 'rev-parse', 'main')).stdout).toBe(await source.git('rev-parse', 'main'))
    await source.close()
  })

  test('a repository has two addresses, with and without .git', async () => {
    const project = await harness.project()
    const remote = harness.remote('developer', project).replace(/\.git$/, '')
    expect((await git('push', remote, 'main')).code).toBe(0)
    const copy = await createGitRepository()
    await copy.git('clone', '--quiet', remote, 'without')
    await copy.git('clone', '--quiet', `${remote}.git`, 'with')
    for (const clone of ['with', 'without'])
      expect(await copy.git('-C', clone, 'rev-parse', 'HEAD')).toBe(head)
    const twice = await copy.git('ls-remote', `${remote}.git.git`).catch((error: Error) => error.message)
    expect(twice).toContain('not found')
    await copy.close()
  })

  test('thousands of tags arrive in one push', async () => {
    const project = await harness.project()
    const tags = Array.from({ length: 2000 }, (_, number) => `create refs/tags/t${number} ${head}\n`)
    const source = await createGitRepository()
    await source.git('fetch', '--quiet', work.path, 'main')
    await execa('git', ['update-ref', '--stdin'], { cwd: source.path, input: tags.join('') })
    await source.git('push', '--quiet', harness.remote('developer', project), '--tags')
    expect(await referencesOf(project)).toHaveLength(2000)
    await source.close()
  })
})

describe('options of a push', () => {
  test('reach webhooks in the shape of GitLab', async () => {
    const project = await harness.project()
    const hook = { url: 'http://127.0.0.1:1/', push_events: true }
    expect((await harness.send('owner', 'POST', `/projects/${project.id}/hooks`, hook)).status).toBe(201)
    const options = [
      'ci.skip',
      'ci.variable=A=1',
      'ci.variable=A=1',
      'mr.title=Ünï',
      'plain',
      '__proto__.x=1',
    ]
    const pushed = await push('developer', project, ...options.flatMap((option) => ['-o', option]), 'main')
    expect(pushed).toMatchObject({ code: 0 })
    const delivery = await waitFor(() => harness.database.prisma.webhookDelivery.findFirst(), {
      what: 'the webhook to be noted',
    })
    expect(JSON.parse(String(delivery?.payload)).push_options).toEqual(
      JSON.parse(
        '{"ci":{"skip":true,"variable":{"A=1":2}},"merge_request":{"title":"Ünï"},"__proto__":{"x":"1"}}',
      ),
    )
  })

  test.each([
    ['more than a hundred', Array.from({ length: 101 }, (_, number) => `n.o${number}`), 'at most'],
    ['of too many bytes', Array.from({ length: 20 }, () => `n.o=${'x'.repeat(5000)}`), 'too long'],
  ])('%s are refused, and nothing is pushed', async (_what, options, reason) => {
    const project = await harness.project()
    const pushed = await push('developer', project, ...options.flatMap((option) => ['-o', option]), 'main')
    expect([pushed.code, pushed.output]).toEqual([1, expect.stringContaining(reason)])
    expect(await referencesOf(project)).toEqual([])
  })
})
