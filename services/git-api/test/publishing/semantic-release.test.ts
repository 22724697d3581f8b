import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Project } from '@switchyard/db'
import { createGitRepository, type TestGitRepository } from '@switchyard/testing'
import { execa } from 'execa'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type GitHarness, startGitHarness } from '../git-harness.js'

let harness: GitHarness
let project: Project
let work: TestGitRepository
/** A project token with the role that pushes notes, because semantic-release stores its channels there. */
let token: string

beforeAll(async () => {
  harness = await startGitHarness()
  project = await harness.project({ visibility: 'private' })
  const given = { name: 'release', scopes: ['api'], access_level: 40 }
  const made = await harness.ask('owner', 'POST', `/projects/${project.id}/access_tokens`, given)
  token = made.body.token
  work = await createGitRepository()
})
afterAll(async () => {
  await work?.close()
  await harness?.close()
})

const program = join(
  dirname(createRequire(import.meta.url).resolve('semantic-release/package.json')),
  'bin/semantic-release.js',
)

/**
 * All plugins of the usual configuration for GitLab, except the plugin that publishes to a package registry.
 */
const configuration = {
  branches: ['main'],
  plugins: ['@semantic-release/commit-analyzer', '@semantic-release/release-notes-generator'],
}

/** Configures semantic-release to publish these assets. */
const configure = (assets: object[]) =>
  writeFile(
    join(work.path, '.releaserc.json'),
    JSON.stringify({
      branches: configuration.branches,
      plugins: [
        ...configuration.plugins,
        [fileURLToPath(import.meta.resolve('@semantic-release/gitlab')), { assets }],
      ],
      repositoryUrl: `${harness.baseUrl}/${project.pathWithNamespace}.git`,
    }),
  )

async function commitAndPush(message: string) {
  const sha = await work.commit({ files: { 'app.txt': message }, message })
  await work.git('push', '--quiet', harness.remote('developer', project), 'main')
  return sha
}

/** Runs semantic-release as a CI job. @returns its output */
async function release(): Promise<string> {
  const { all } = await execa(process.execPath, [program], {
    cwd: work.path,
    all: true,
    timeout: 300_000,
    extendEnv: false,
    env: {
      PATH: process.env.PATH,
      HOME: work.path,
      GIT_CONFIG_NOSYSTEM: '1',
      CI: 'true',
      GITLAB_URL: harness.baseUrl,
      GL_TOKEN: token,
    },
  })
  return all
}

const releases = async () =>
  (await harness.ask('reporter', 'GET', `/projects/${project.id}/releases`)).body as {
    tag_name: string
    description: string
    commit: { id: string }
    assets: { links: { name: string; url: string; direct_asset_url: string }[] }
  }[]

test('semantic-release releases new commits, finds its last release, and continues from it', async () => {
  await configure([{ url: 'https://example.com/app.zip', label: 'App', filepath: '/app.zip' }])
  const first = await commitAndPush('feat: say hello')
  expect(await release()).toContain('Published GitLab release')
  const [made, ...others] = await releases()
  expect(others).toEqual([])
  expect(made).toMatchObject({
    tag_name: 'v1.0.0',
    description: expect.stringContaining('say hello'),
    author: { name: 'release' },
    commit: { id: first },
    assets: {
      links: [
        {
          name: 'App',
          url: 'https://example.com/app.zip',
          direct_asset_url: expect.stringMatching(/app\.zip$/),
        },
      ],
    },
  })

  const again = await release()
  expect(again).toContain('Found git tag v1.0.0 associated with version 1.0.0')
  expect(again).toContain('no new version is released')
  expect(await releases()).toHaveLength(1)

  const fix = await commitAndPush('fix: spell hello right')
  expect(await release()).toContain('The next release version is 1.0.1')
  expect(await releases()).toMatchObject([
    { tag_name: 'v1.0.1', description: expect.stringContaining('spell hello right'), commit: { id: fix } },
    { tag_name: 'v1.0.0' },
  ])
  const tag = await harness.ask('reporter', 'GET', `/projects/${project.id}/repository/tags/v1.0.1`)
  expect(tag.body).toMatchObject({ release: { tag_name: 'v1.0.1' }, commit: { id: fix } })
})

test('semantic-release publishes files, as packages and as uploads', async () => {
  const bytes = randomBytes(3_000_000)
  for (const file of ['app.bin', 'shot.png']) await writeFile(join(work.path, file), bytes)
  await configure([
    { path: 'app.bin', label: 'app.bin', filepath: '/bin/app.bin', target: 'generic_package' },
    { path: 'shot.png', label: 'Picture', filepath: '/shot.png' },
  ])
  await commitAndPush('feat: say goodbye')
  expect(await release()).toContain('Published GitLab release')
  const [made] = await releases()
  expect(made?.assets.links).toHaveLength(2)
  for (const { url, direct_asset_url } of made?.assets.links ?? []) {
    expect(url).toMatch(/\/packages\/generic\/release\/[\d.]+\/app\.bin$|\/uploads\/[0-9a-f]{32}\/shot\.png$/)
    for (const address of [url, direct_asset_url]) {
      const answer = await fetch(address, { headers: { 'PRIVATE-TOKEN': token } })
      expect([address, answer.status, Buffer.from(await answer.arrayBuffer()).equals(bytes)]).toEqual([
        address,
        200,
        true,
      ])
    }
  }
})
