import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isolatedGitEnv } from '@switchyard/testing'
import { execa } from 'execa'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type GitHarness, pushSample, startGitHarness } from '../git-harness.js'

let harness: GitHarness
let folder: string

beforeAll(async () => {
  harness = await startGitHarness()
  folder = await mkdtemp(join(tmpdir(), 'switchyard-clients-'))
})
afterAll(async () => {
  await harness?.close()
  await rm(folder, { recursive: true, force: true })
})

/** A git client: its commands, in a repository that it has cloned. */
interface Client {
  clone(url: string, target: string): Promise<unknown>
  fetch(repository: string, url: string): Promise<unknown>
  /** @returns the output */
  push(repository: string, url: string, from: string, to: string): Promise<string>
}

const commandOf = (text: string | undefined): string[] | null => (text ? JSON.parse(text) : null)

/** Returns the output of both streams; a refused client may end with any exit code. */
async function printed([program = '', ...args]: string[], cwd: string): Promise<string> {
  const { all } = await execa(program, args, { cwd, env: isolatedGitEnv(), all: true, reject: false })
  return all
}

const dulwich = commandOf(process.env.SWITCHYARD_TEST_DULWICH)
const dulwichClient = (command: string[]): Client => {
  const call = (cwd: string, expression: string) =>
    printed([...command, '-c', `from dulwich import porcelain\nporcelain.${expression}`], cwd)
  const text = JSON.stringify
  return {
    clone: (url, target) => call('/', `clone(${text(url)}, ${text(target)})`),
    fetch: (repository, url) => call(repository, `fetch('.', ${text(url)})`),
    push: (repository, url, from, to) =>
      call(repository, `push('.', ${text(url)}, ${text(`${from}:${to}`)})`),
  }
}

const jgit = commandOf(process.env.SWITCHYARD_TEST_JGIT)
/**
 * Returns a JGit client. JGit asks for a password in a window unless a file contains it, whatever the address
 * contains.
 */
const jgitClient = (command: string[]): Client => {
  const call = async (cwd: string, url: string, ...args: string[]) => {
    const { hostname, username, password } = new URL(url)
    await writeFile(join(folder, '.netrc'), `machine ${hostname} login ${username} password ${password}\n`)
    const env = { ...isolatedGitEnv(), JAVA_TOOL_OPTIONS: `-Duser.home=${folder}` }
    const [program = '', ...options] = command
    const { all } = await execa(program, [...options, ...args], { cwd, env, all: true, reject: false })
    return all
  }
  const plain = (url: string) => url.replace(/\/\/[^@/]*@/, '//')
  return {
    clone: (url, target) => call('/', url, 'clone', plain(url), target),
    fetch: (repository, url) =>
      call(repository, url, 'fetch', plain(url), 'refs/heads/*:refs/remotes/origin/*'),
    push: (repository, url, from, to) => call(repository, url, 'push', plain(url), `${from}:${to}`),
  }
}

const clients = [
  ['dulwich', dulwich && dulwichClient(dulwich)],
  ['JGit', jgit && jgitClient(jgit)],
] as const

describe.each(clients)('%s', (name, client) => {
  test.skipIf(!client)(
    'clones, pushes, receives why a reference is refused, and fetches',
    async () => {
      if (!client) return
      const { project, work, commits } = await pushSample(harness)
      await harness.database.prisma.protectedBranch.create({
        data: { projectId: project.id, name: 'release/*', pushAccessLevel: 40 },
      })
      const url = harness.remote('developer', project)
      const clone = join(folder, name)
      const git = async (...args: string[]) =>
        (await execa('git', args, { cwd: clone, env: isolatedGitEnv() })).stdout
      const cloned = await client.clone(url, clone)
      expect(existsSync(clone), String(cloned)).toBe(true)
      expect(await git('rev-parse', 'HEAD')).toBe(commits.third)

      const identity = ['-c', 'user.name=c', '-c', 'user.email=c@example.com']
      await git(...identity, 'commit', '--quiet', '--allow-empty', '-m', `made for ${name}`)
      const made = await git('rev-parse', 'HEAD')
      await client.push(clone, url, 'refs/heads/main', 'refs/heads/main')
      await client.push(clone, url, 'refs/heads/main', 'refs/tags/from-client')
      const refused = await client.push(clone, url, 'refs/heads/main', 'refs/heads/release/1')
      expect(refused).toContain('You are not allowed to push into this branch: release/1')
      const references = await work.git('ls-remote', url, 'refs/heads/*', 'refs/tags/from-client')
      expect(references).toContain(`${made}\trefs/heads/main`)
      expect(references).toContain(`${made}\trefs/tags/from-client`)
      expect(references).not.toContain('release/1')

      await work.git('switch', '--quiet', 'feature/x.y')
      const further = await work.commit({ files: { 'further.txt': 'f' } })
      await work.git('push', '--quiet', url, 'feature/x.y')
      await client.fetch(clone, url)
      expect(await git('cat-file', '-t', further)).toBe('commit')
      await work.close()
    },
    120_000,
  )
})
