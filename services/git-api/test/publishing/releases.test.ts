import { Gitlab } from '@gitbeaker/rest'
import type { Project } from '@switchyard/db'
import type { TestGitRepository } from '@switchyard/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type GitHarness, pushSample, startGitHarness } from '../git-harness.js'

type Who = Parameters<GitHarness['ask']>[0]

let harness: GitHarness
let project: Project
let work: TestGitRepository
let commits: Record<'first' | 'second' | 'third' | 'side', string>

beforeAll(async () => {
  harness = await startGitHarness()
  ;({ project, work, commits } = await pushSample(harness, { visibility: 'public' }))
})
afterAll(async () => {
  await work?.close()
  await harness?.close()
})

const ask: GitHarness['ask'] = (...request) => harness.ask(...request)
const path = (rest = '', of = project) => `/projects/${of.id}/releases${rest}`
const tag = (name: string) => `/projects/${project.id}/repository/tags/${encodeURIComponent(name)}`
const release = (tag_name: string, body: object = {}, who: Who = 'developer') =>
  ask(who, 'POST', path(), { tag_name, ...body })
const locationOf = async (rest: string) => {
  const response = await fetch(`${harness.baseUrl}/api/v4${path(rest)}`, { redirect: 'manual' })
  return { status: response.status, location: response.headers.get('location') }
}

test('a release of a tag has the fields of GitLab, and the tag shows it', async () => {
  const { status, body } = await release('v1.0', { description: '# Notes', name: 'One' })
  expect(status).toBe(201)
  expect(body).toMatchObject({
    tag_name: 'v1.0',
    name: 'One',
    description: '# Notes',
    upcoming_release: false,
    author: { username: 'dora' },
    commit: { id: commits.second },
    commit_path: `/${project.pathWithNamespace}/-/commit/${commits.second}`,
    tag_path: `/${project.pathWithNamespace}/-/tags/v1.0`,
    assets: { count: 4, links: [] },
    evidences: [],
    _links: { self: `${harness.baseUrl}/${project.pathWithNamespace}/-/releases/v1.0` },
  })
  expect(body.assets.sources.map(({ format }: { format: string }) => format)).toEqual([
    'zip',
    'tar.gz',
    'tar.bz2',
    'tar',
  ])
  const source = await fetch(body.assets.sources[1].url)
  expect([source.status, source.headers.get('content-disposition')]).toEqual([
    200,
    expect.stringContaining(commits.second),
  ])
  expect((await ask('anonymous', 'GET', path('/v1.0'))).body).toEqual(body)
  expect((await ask('reporter', 'GET', tag('v1.0'))).body.release).toEqual({
    tag_name: 'v1.0',
    description: '# Notes',
  })
  expect(await release('v1.0')).toMatchObject({ status: 409, body: { message: 'Release already exists' } })
})

test('a missing tag is created at `ref`: annotated with a message, otherwise lightweight', async () => {
  expect(await release('made/1')).toMatchObject({ status: 422, body: { message: 'Ref is not specified' } })
  expect(await release('made/1', { ref: 'nope' })).toMatchObject({
    status: 400,
    body: { message: 'Target nope is invalid' },
  })
  expect((await ask('developer', 'GET', path('/made%2F1'))).status).toBe(404)
  const made = await release('made/1', { ref: commits.first, tag_message: 'Annotated' })
  expect(made).toMatchObject({ status: 201, body: { name: 'made/1', commit: { id: commits.first } } })
  expect((await ask('developer', 'GET', tag('made/1'))).body).toMatchObject({
    message: 'Annotated',
    release: { tag_name: 'made/1', description: null },
  })
  await release('made/2', { ref: 'main' })
  expect((await ask('developer', 'GET', tag('made/2'))).body).toMatchObject({ message: '' })
})

test('among parallel releases of one tag, one succeeds and the others are refused because it exists', async () => {
  const answers = await Promise.all(Array.from({ length: 8 }, () => release('racing', { ref: 'main' })))
  expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array.from({ length: 7 }, () => 409)])
})

test('invalid fields are refused, and nothing is created', async () => {
  const refused = async (body: object) => (await release('refused', { ref: 'main', ...body })).body
  expect((await refused({ name: 'x'.repeat(256) })).message).toEqual({ name: [expect.any(String)] })
  expect((await refused({ description: 'x'.repeat(125_001) })).message).toHaveProperty('description')
  expect((await refused({ milestones: ['one'] })).message).toBe('Milestone(s) not found: one')
  expect((await refused({ released_at: 'soon' })).error).toBe('released_at is invalid')
  expect((await refused({ assets: { links: [{ name: 'a' }] } })).error).toBe(
    'assets[links][0][url] is missing',
  )
  const links = Array.from({ length: 101 }, (_, index) => ({
    name: `${index}`,
    url: `https://x.test/${index}`,
  }))
  expect((await refused({ assets: { links } })).error).toBe('assets[links] has more than 100 items')
  const twice = [links[0], links[0]]
  expect((await refused({ assets: { links: twice } })).message).toHaveProperty('url')
  expect((await release('a b', { ref: 'main' })).body.message).toBe('Tag name invalid')
  expect((await ask('developer', 'POST', path(), {})).body.error).toBe('tag_name is missing')
  expect((await ask('developer', 'GET', tag('refused'))).status).toBe(404)
})

test('a release is changed and deleted, and its tag stays', async () => {
  await release('changed', { ref: 'main', description: 'old' })
  const at = '2020-01-02T03:04:05.000Z'
  expect(
    await ask('developer', 'PUT', path('/changed'), { description: 'new', released_at: at }),
  ).toMatchObject({
    status: 200,
    body: { name: 'changed', description: 'new', released_at: at },
  })
  expect((await ask('developer', 'PUT', path('/changed'), {})).status).toBe(400)
  expect((await ask('developer', 'PUT', path('/nothing'), { name: 'x' })).status).toBe(404)
  expect(await ask('developer', 'DELETE', path('/changed'))).toMatchObject({
    status: 200,
    body: { tag_name: 'changed' },
  })
  expect((await ask('developer', 'DELETE', path('/changed'))).status).toBe(404)
  expect((await ask('developer', 'GET', tag('changed'))).body.release).toBeNull()
})

test('a release is deleted with its tag, over the API and over git', async () => {
  await release('gone/1', { ref: 'main' })
  await release('gone/2', { ref: 'main' })
  expect((await ask('developer', 'DELETE', tag('gone/1'))).status).toBe(204)
  await work.git('push', '--quiet', harness.remote('developer', project), ':refs/tags/gone/2')
  for (const name of ['gone%2F1', 'gone%2F2']) {
    expect((await ask('developer', 'GET', path(`/${name}`))).status).toBe(404)
  }
})

test('links: repeating a link returns the same one, names and paths are unique, and downloads redirect to the address', async () => {
  await release('linked', { ref: 'main' })
  const links = path('/linked/assets/links')
  const app = { name: 'app', url: 'https://example.com/app.zip', filepath: '/bin/app.zip' }
  const made = await ask('developer', 'POST', links, app)
  expect(made).toMatchObject({
    status: 201,
    body: {
      name: 'app',
      link_type: 'other',
      direct_asset_url: `${harness.baseUrl}/${project.pathWithNamespace}/-/releases/linked/downloads/bin/app.zip`,
    },
  })
  const headers = { 'PRIVATE-TOKEN': harness.tokens.reporter }
  const direct = await fetch(made.body.direct_asset_url, { headers, redirect: 'manual' })
  expect([direct.status, direct.headers.get('location')]).toEqual([302, app.url])
  expect(await ask('developer', 'POST', links, app)).toMatchObject({ status: 200, body: made.body })
  expect((await ask('developer', 'POST', links, { ...app, url: 'https://x.test' })).body.message).toEqual({
    name: ['has already been taken'],
    filepath: ['has already been taken'],
  })
  expect(await locationOf('/linked/downloads/bin/app.zip')).toEqual({ status: 302, location: app.url })
  expect((await locationOf('/linked/downloads/bin')).status).toBe(404)
  const one = `${links}/${made.body.id}`
  const changed = await ask('developer', 'PUT', one, { url: 'https://example.com/2', link_type: 'package' })
  expect(changed.body).toMatchObject({ id: made.body.id, name: 'app', link_type: 'package' })
  expect(await locationOf('/linked/downloads/bin/app.zip')).toMatchObject({
    location: 'https://example.com/2',
  })
  expect((await ask('developer', 'PUT', one, {})).status).toBe(400)
  expect((await ask('reporter', 'DELETE', one)).status).toBe(403)
  expect((await ask('developer', 'DELETE', one)).body).toMatchObject({ id: made.body.id })
  expect((await ask('developer', 'GET', one)).status).toBe(404)
})

test('a release has a hundred links at most, even with parallel requests', async () => {
  const links = Array.from({ length: 98 }, (_, index) => ({
    name: `${index}`,
    url: `https://x.test/${index}`,
  }))
  await release('full', { ref: 'main', assets: { links } })
  const answers = await Promise.all(
    Array.from({ length: 5 }, (_, index) =>
      ask('developer', 'POST', path('/full/assets/links'), {
        name: `more ${index}`,
        url: `https://y.test/${index}`,
      }),
    ),
  )
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 400, 400, 400])
  expect((await ask('developer', 'GET', path('/full/assets/links'))).headers.get('x-total')).toBe('100')
})

test('the permalink redirects to the newest release that is not in the future, with the rest of the path and the query', async () => {
  await release('newest', { ref: 'main', released_at: '2026-11-01T00:00:00Z' })
  await release('future', { ref: 'main', released_at: '2999-01-01T00:00:00Z' })
  expect((await ask('developer', 'GET', path('/future'))).body.upcoming_release).toBe(true)
  const list = await ask('developer', 'GET', path('?order_by=released_at&sort=desc&per_page=100'))
  const expected = list.body.find((each: { upcoming_release: boolean }) => !each.upcoming_release)
  const latest = `/api/v4${path(`/${encodeURIComponent(expected.tag_name)}`)}`
  expect(await locationOf('/permalink/latest')).toEqual({ status: 302, location: latest })
  expect(await locationOf('/permalink/latest/downloads/a%20b/c?per_page=1&x=1&Private-Token=secret')).toEqual(
    {
      status: 302,
      location: `${latest}/downloads/a%20b/c?per_page=1`,
    },
  )
  const empty = await harness.project()
  expect((await ask('developer', 'GET', path('/permalink/latest', empty))).status).toBe(404)
})

test('everybody who sees a project sees its releases, and only callers who read code see the commit', async () => {
  const hidden = await harness.project()
  const url = harness.remote('owner', hidden)
  await work.git('push', '--quiet', url, 'main')
  await ask('developer', 'POST', path('', hidden), { tag_name: 'v1', ref: 'main' })
  const asGuest = await ask('guest', 'GET', path('/v1', hidden))
  expect(asGuest).toMatchObject({ status: 200, body: { tag_name: 'v1', assets: { count: 0 } } })
  expect(Object.keys(asGuest.body)).not.toContain('commit')
  expect(Object.keys(asGuest.body.assets)).toEqual(['count', 'links'])
  expect((await ask('stranger', 'GET', path('/v1', hidden))).status).toBe(404)
  expect((await ask('guest', 'POST', path('', hidden), { tag_name: 'v2', ref: 'main' })).status).toBe(403)
  expect((await ask('anonymous', 'DELETE', path('/v1', hidden))).status).toBe(401)
})

test('a protected tag is released and changed only by callers who may create it', async () => {
  await ask('owner', 'POST', `/projects/${project.id}/protected_tags`, { name: 'guarded*' })
  const refusal = '403 Forbidden - You are not allowed to create this tag as it is protected.'
  expect(await release('guarded', { ref: 'main' })).toMatchObject({ status: 403, body: { message: refusal } })
  expect((await release('guarded', { ref: 'main' }, 'owner')).status).toBe(201)
  for (const [method, rest] of [
    ['PUT', ''],
    ['DELETE', ''],
    ['POST', '/assets/links'],
  ] as const) {
    const body = { name: 'x', url: 'https://x.test' }
    expect((await ask('developer', method, path(`/guarded${rest}`), body)).status).toBe(403)
  }
})

test('gitbeaker creates, lists, changes and deletes releases, tags and their links', async () => {
  const client = new Gitlab({ host: harness.baseUrl, token: harness.tokens.owner })
  const made = await client.ProjectReleases.create(project.id, {
    tagName: 'beaker/1',
    ref: 'main',
    tagMessage: 'By gitbeaker',
    description: 'Notes',
  })
  expect(made).toMatchObject({ tag_name: 'beaker/1', description: 'Notes' })
  const link = await client.ReleaseLinks.create(project.id, 'beaker/1', 'app', 'https://example.com/a')
  expect((await client.ReleaseLinks.all(project.id, 'beaker/1')).map(({ id }) => id)).toEqual([link.id])
  await client.ReleaseLinks.remove(project.id, 'beaker/1', link.id)
  const edited = await client.ProjectReleases.edit(project.id, 'beaker/1', { name: 'Beaker' })
  expect(edited.name).toBe('Beaker')
  const listed = await client.ProjectReleases.all(project.id)
  expect(listed.map(({ tag_name }) => tag_name)).toContain('beaker/1')
  await client.ProtectedTags.create(project.id, 'beaker/*')
  expect(await client.Tags.show(project.id, 'beaker/1')).toMatchObject({
    protected: true,
    message: 'By gitbeaker',
  })
  await client.ProjectReleases.remove(project.id, 'beaker/1')
  await client.ProtectedTags.unprotect(project.id, 'beaker/*')
  await client.Tags.remove(project.id, 'beaker/1')
  await expect(client.Tags.show(project.id, 'beaker/1')).rejects.toThrow('404 Tag Not Found')
})
