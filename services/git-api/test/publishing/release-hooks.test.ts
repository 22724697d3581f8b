import type { Project } from '@switchyard/db'
import type { TestGitRepository } from '@switchyard/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type GitHarness, pushSample, startGitHarness } from '../git-harness.js'

let harness: GitHarness
let project: Project
let work: TestGitRepository
let commits: Record<'first' | 'second' | 'third' | 'side', string>
let hook: { id: number; releases_events: boolean }

beforeAll(async () => {
  harness = await startGitHarness()
  ;({ project, work, commits } = await pushSample(harness))
  const fields = { url: 'https://ci.example.com/hook', push_events: false, releases_events: true }
  hook = (await harness.ask('owner', 'POST', hooks(), fields)).body
})
afterAll(async () => {
  await work?.close()
  await harness?.close()
})

const hooks = (rest = '') => `/projects/${project.id}/hooks${rest}`
const releases = (rest = '') => `/projects/${project.id}/releases${rest}`
const ask = (method: string, path: string, body?: object) => harness.ask('developer', method, path, body)

interface Told {
  request_headers: Record<string, string>
  body: Record<string, unknown> & { action: string; tag: string }
}

/** Returns the deliveries about a tag, by action. */
async function toldOf(tag: string): Promise<Record<string, Told>> {
  const deliveries = hooks(`/${hook.id}/deliveries`)
  const listed = (await harness.ask('owner', 'GET', `${deliveries}?per_page=100`)).body as { id: string }[]
  const all = await Promise.all(
    listed.map(async ({ id }): Promise<Told> => {
      const { request_headers, request_body } = (await harness.ask('owner', 'GET', `${deliveries}/${id}`))
        .body
      return { request_headers, body: JSON.parse(request_body) }
    }),
  )
  const told = all.filter(({ body }) => body.tag === tag)
  const byAction = Object.fromEntries(told.map((each) => [each.body.action, each]))
  expect(told, 'each action once').toHaveLength(Object.keys(byAction).length)
  return byAction
}

test('webhooks receive that a release was created, changed and deleted, in the shape of GitLab', async () => {
  expect(hook.releases_events).toBe(true)
  const link = { name: 'Notes', url: 'https://notes.example.com/1', link_type: 'other' }
  const given = { tag_name: 'rel/1', ref: 'main', name: 'One', description: 'New', assets: { links: [link] } }
  const made = await ask('POST', releases(), given)
  expect(made.status).toBe(201)
  await ask('PUT', releases('/rel%2F1'), { description: 'Newer' })
  await ask('DELETE', releases('/rel%2F1'))

  const told = await toldOf('rel/1')
  expect(Object.keys(told).sort()).toEqual(['create', 'delete', 'update'])
  expect(told.create?.request_headers).toMatchObject({ 'X-Gitlab-Event': 'Release Hook' })
  const webUrl = `${harness.baseUrl}/${project.pathWithNamespace}`
  expect(told.create?.body).toEqual({
    object_kind: 'release',
    id: expect.any(Number),
    created_at: made.body.created_at,
    description: 'New',
    name: 'One',
    released_at: made.body.released_at,
    tag: 'rel/1',
    project: expect.objectContaining({ path_with_namespace: project.pathWithNamespace }),
    url: `${webUrl}/-/releases/rel%2F1`,
    action: 'create',
    assets: {
      count: made.body.assets.count,
      links: [{ ...link, id: made.body.assets.links[0].id }],
      sources: made.body.assets.sources,
    },
    commit: {
      id: commits.third,
      message: expect.any(String),
      title: 'Commit 4',
      timestamp: expect.any(String),
      url: `${webUrl}/-/commit/${commits.third}`,
      author: { name: expect.any(String), email: expect.any(String) },
    },
  })
  expect(told.update?.body).toMatchObject({ description: 'Newer', assets: { links: [{ name: 'Notes' }] } })
  expect(told.delete?.body).toMatchObject({ description: 'Newer', commit: { id: commits.third } })
})

test('webhooks receive a release that is deleted with its tag, with the former commit of the tag', async () => {
  for (const tag of ['by-api', 'by-git']) {
    await ask('POST', releases(), { tag_name: tag, ref: commits.first, tag_message: 'Annotated' })
  }
  await ask('DELETE', `/projects/${project.id}/repository/tags/by-api`)
  await work.git('push', '--quiet', harness.remote('developer', project), ':refs/tags/by-git')
  for (const tag of ['by-api', 'by-git']) {
    expect((await toldOf(tag)).delete?.body).toMatchObject({ tag, commit: { id: commits.first } })
  }
})

test('webhooks receive nothing about a refused release', async () => {
  const refused = [
    await ask('POST', releases(), { tag_name: 'refused', ref: 'nope' }),
    await ask('POST', releases(), { tag_name: 'refused', ref: 'main', name: 'x'.repeat(256) }),
    await ask('PUT', releases('/refused'), { name: 'None' }),
    await ask('DELETE', releases('/refused')),
  ]
  expect(refused.map(({ status }) => status)).toEqual([400, 400, 404, 404])
  expect(await toldOf('refused')).toEqual({})
})

test('a release that cannot be stored leaves no tag behind', async () => {
  const sql = (text: string) => harness.database.pool.query(`ALTER TABLE webhook_deliveries ${text}`)
  await sql(`ADD CONSTRAINT none_of_unstored CHECK (payload NOT LIKE '%unstored%') NOT VALID`)
  try {
    const { status } = await ask('POST', releases(), { tag_name: 'unstored', ref: 'main' })
    expect(status).toBe(500)
  } finally {
    await sql('DROP CONSTRAINT none_of_unstored')
  }
  expect((await ask('GET', releases('/unstored'))).status).toBe(404)
  expect((await ask('GET', `/projects/${project.id}/repository/tags/unstored`)).status).toBe(404)
})
