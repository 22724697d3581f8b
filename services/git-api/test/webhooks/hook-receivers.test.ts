import type { Project } from '@switchyard/db'
import { type TestGitRepository, waitFor } from '@switchyard/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type GitHarness, pushSample, startGitHarness } from '../git-harness.js'

/** Identity of the author of annotated tags. */
const tagger = ['-c', 'user.name=Tina Tagger', '-c', 'user.email=tina@example.com']

let harness: GitHarness
let project: Project
let work: TestGitRepository
let commits: Record<'first' | 'second' | 'third' | 'side', string>

beforeAll(async () => {
  harness = await startGitHarness({ env: { WEBHOOK_ALLOWED_HOSTS: '127.0.0.1' } })
  ;({ project, work, commits } = await pushSample(harness))
  const events = { push_events: true, tag_push_events: true }
  const hook = { url: 'http://127.0.0.1:1/', ...events }
  const added = await harness.ask('owner', 'POST', `/projects/${project.id}/hooks`, hook)
  expect(added.status).toBe(201)
})
afterAll(async () => {
  await work?.close()
  await harness?.close()
})

/** Waits for the delivery about a reference and returns its body. */
async function toldOf(ref: string, before = '0'.repeat(40)) {
  let found: Record<string, unknown> | undefined
  await waitFor(
    async () => {
      const deliveries = await harness.database.prisma.webhookDelivery.findMany()
      const bodies = deliveries.map(({ payload }) => JSON.parse(payload))
      found = bodies.find((body) => body.ref === ref && body.before === before)
      return found !== undefined
    },
    { what: `a delivery about ${ref}` },
  )
  return found
}

test('a push has every field that known receivers require', async () => {
  const tip = await work.commit({ branch: 'main', files: { added: 'a' }, message: 'Add a file' })
  await work.git('push', '--quiet', harness.remote('developer', project), 'main')
  const webUrl = `${harness.baseUrl}/${project.pathWithNamespace}`
  // Jenkins' GitLab plugin does not build when one of these fields is missing or null.
  const jenkins = {
    user_name: 'Dora Developer',
    before: commits.third,
    after: tip,
    ref: 'refs/heads/main',
    checkout_sha: tip,
    project: { git_ssh_url: '', ssh_url: '', git_http_url: `${webUrl}.git`, http_url: `${webUrl}.git` },
    repository: { git_ssh_url: '', git_http_url: `${webUrl}.git`, homepage: webUrl },
    commits: [{ id: tip, message: 'Add a file\n', author: { name: expect.any(String) } }],
  }
  const argoCd = {
    project: { web_url: webUrl, default_branch: 'main' },
    commits: [{ added: ['added'], modified: [], removed: [] }],
  }
  const told = await toldOf('refs/heads/main', commits.third)
  for (const demanded of [jenkins, argoCd]) expect(told).toMatchObject(demanded)
})

test.each([
  ['git', 'by-git'],
  ['the API', 'by-api'],
])('an annotated tag that comes by %s is told with its commit and its text', async (_way, name) => {
  const message = 'Text of the tag\n\nin two paragraphs'
  if (name === 'by-git') {
    await work.git(...tagger, 'tag', '--annotate', '--message', message, name, commits.second)
    await work.git('push', '--quiet', harness.remote('owner', project), name)
  } else {
    const given = { tag_name: name, ref: commits.second, message }
    const made = await harness.ask('owner', 'POST', `/projects/${project.id}/repository/tags`, given)
    expect(made.status).toBe(201)
  }
  const told = await toldOf(`refs/tags/${name}`)
  expect(told).toMatchObject({ object_kind: 'tag_push', checkout_sha: commits.second, message })
  expect(told?.after).not.toBe(commits.second)
})

test('a lightweight tag has no text, and a deleted one no commit', async () => {
  await work.git('tag', 'light', commits.second)
  await work.git('push', '--quiet', harness.remote('owner', project), 'light')
  await work.git('push', '--quiet', harness.remote('owner', project), ':light')
  expect(await toldOf('refs/tags/light')).toMatchObject({ checkout_sha: commits.second, message: null })
  expect(await toldOf('refs/tags/light', commits.second)).toMatchObject({ checkout_sha: null, message: null })
})

test('a project has every field that known clients of the API require', async () => {
  const { body } = await harness.ask('developer', 'GET', `/projects/${project.id}`)
  expect(body).toMatchObject({
    ssh_url_to_repo: '',
    http_url_to_repo: `${harness.baseUrl}/${project.pathWithNamespace}.git`,
    // TeamCity publishes no status without this field.
    permissions: { project_access: { access_level: 30 } },
  })
})
