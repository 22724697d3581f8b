import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestGitRepository } from '@switchyard/testing'
import { execa } from 'execa'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type GitHarness, pushSample, startGitHarness } from '../git-harness.js'

let harness: GitHarness
let folder: string
let work: TestGitRepository
let open: string
let closed: string

const ciFile = 'hello:\n  script:\n    - echo from the other project\n'

beforeAll(async () => {
  harness = await startGitHarness()
  folder = await mkdtemp(join(tmpdir(), 'switchyard-web-'))
  const sample = await pushSample(harness, { visibility: 'public' })
  work = sample.work
  await work.commit({ branch: 'main', files: { 'ci/hello.yml': ciFile } })
  const hidden = await harness.project()
  for (const project of [sample.project, hidden]) {
    await work.git('push', '--quiet', harness.remote('owner', project), '--all')
  }
  open = sample.project.pathWithNamespace
  closed = hidden.pathWithNamespace
})
afterAll(async () => {
  await work?.close()
  await harness?.close()
  await rm(folder, { recursive: true, force: true })
})

const { resolve } = createRequire(import.meta.url)

/** Returns the path of a program in the folder of its package. */
const programOf = (name: string, path: string) =>
  join(resolve(name).replace(new RegExp(`(node_modules/${name})/.*$`), '$1'), path)

async function giget(template: string, ...options: string[]): Promise<string[]> {
  const target = await mkdtemp(join(folder, 'giget-'))
  const args = [programOf('giget', 'dist/cli.mjs'), template, target, '--force', '--no-install', ...options]
  const env = { PATH: process.env.PATH, XDG_CACHE_HOME: target, GIGET_GITLAB_URL: harness.baseUrl }
  await execa(process.execPath, args, { env, extendEnv: false, timeout: 300_000 })
  return readdir(target)
}

test('giget copies a template, of a branch with a slash, and with a token of a private project', async () => {
  expect(await giget(`gitlab:${open}`)).toEqual(expect.arrayContaining(['bin.dat', 'ci', 'src']))
  expect(await giget(`gitlab:${open}#feature/x.y`)).toEqual(expect.arrayContaining(['side.txt']))
  expect(await giget(`gitlab:${closed}`, '--auth', harness.tokens.reporter)).toContain('ci')
  await expect(giget(`gitlab:${closed}`)).rejects.toThrow('404')
})

test('gitlab-ci-local includes a remote file by its address', async () => {
  const cwd = await mkdtemp(join(folder, 'ci-'))
  const remote = `${harness.baseUrl}/${open}/-/raw/main/ci/hello.yml`
  await writeFile(join(cwd, '.gitlab-ci.yml'), `include:\n  - remote: ${remote}\n`)
  for (const args of [
    ['init', '--quiet', '--initial-branch=main'],
    ['remote', 'add', 'origin', `${harness.baseUrl}/${open}.git`],
    ['-c', 'user.name=T', '-c', 'user.email=t@example.com', 'commit', '--quiet', '--allow-empty', '-m', 'x'],
  ]) {
    await execa('git', args, { cwd })
  }
  const program = programOf('gitlab-ci-local', 'dist/index.js')
  const env = { PATH: process.env.PATH, HOME: cwd }
  const options = { cwd, env, extendEnv: false, timeout: 300_000 }
  const { stdout } = await execa(process.execPath, [program, '--list-csv'], options)
  expect(stdout).toContain('hello')
  expect(await readFile(join(cwd, '.gitlab-ci.yml'), 'utf8')).toContain(remote)
})
