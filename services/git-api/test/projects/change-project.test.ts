import { addMember } from '@switchyard/testing'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Harness, json, outcome, startHarness } from '../harness.js'

let harness: Harness
let maintainer: string
beforeAll(async () => {
  harness = await startHarness()
  maintainer = await harness.secretOf(harness.users.user)
})
afterAll(() => harness?.close())

let sequence = 0
/**
 * Creates a project of `owner` with a commit on `main` and one on `next`, in which `ordinary` is a
 * maintainer.
 */
async function newProject(fields: object = {}) {
  sequence += 1
  const given = { path: `project-${sequence}`, initialize_with_readme: true, ...fields }
  const { body } = await outcome(harness.send('owner', 'POST', '/projects', json(given)))
  const id = Number(body?.id)
  await addMember(harness.database, { id }, harness.users.user, 40)
  return { id, path: `project-${sequence}` }
}
const change = (who: string, id: number | string, fields: object) =>
  outcome(harness.send(who, 'PUT', `/projects/${id}`, json(fields)))

it('a change applies to the given fields and keeps the others', async () => {
  const { id } = await newProject()
  const changed = await change(maintainer, id, { name: 'A better name', description: 'What it is for' })
  expect(changed).toMatchObject({
    status: 200,
    body: { id, name: 'A better name', description: 'What it is for', visibility: 'private' },
  })
  expect((await change(maintainer, id, { description: null })).body).toMatchObject({
    name: 'A better name',
    description: null,
  })
  const found = await outcome(harness.send('owner', 'GET', `/projects/${id}`))
  expect(found.body).toMatchObject({ name: 'A better name', default_branch: 'main' })
})

it('a project moves to another path, with its repository', async () => {
  const { id, path } = await newProject()
  const moved = await change(maintainer, id, { path: `${path}-moved` })
  expect(moved).toMatchObject({ status: 200, body: { path_with_namespace: `Owner/${path}-moved` } })
  const commits = await harness.send('owner', 'GET', `/projects/Owner%2F${path}-moved/repository/commits`)
  expect(commits.status).toBe(200)
  expect((await harness.send('owner', 'GET', `/projects/Owner%2F${path}`)).status).toBe(404)
  const taken = await newProject()
  expect(await change('owner', taken.id, { path: `${path}-MOVED` })).toEqual({
    status: 400,
    body: { message: { path: ['has already been taken'] } },
  })
})

it('clones check out a changed default branch, which must exist', async () => {
  const { id } = await newProject()
  expect(await change(maintainer, id, { default_branch: 'next' })).toEqual({
    status: 400,
    body: {
      message: {
        base: ["Could not set the default branch. Do you have a branch named 'next' in your repository?"],
      },
    },
  })
  const actions = [{ action: 'create', file_path: 'a', content: 'a' }]
  const commit = { branch: 'next', start_branch: 'main', commit_message: 'Begin', actions }
  await harness.send('owner', 'POST', `/projects/${id}/repository/commits`, json(commit))
  expect(await change(maintainer, id, { default_branch: 'next' })).toMatchObject({
    status: 200,
    body: { default_branch: 'next' },
  })
  const found = await outcome(harness.send('owner', 'GET', `/projects/${id}`))
  const clone = `${harness.baseUrl}/${found.body?.path_with_namespace}.git/info/refs?service=git-upload-pack`
  const refs = await (await fetch(clone, { headers: { 'PRIVATE-TOKEN': harness.tokens.owner } })).text()
  expect(refs).toContain('symref=HEAD:refs/heads/next')
})

it('a future branch can be the default only in a repository without branches', async () => {
  const { id } = await newProject({ initialize_with_readme: false })
  expect(await change('owner', id, { default_branch: 'trunk' })).toMatchObject({
    status: 200,
    body: { default_branch: 'trunk', empty_repo: true },
  })
  expect(await change('owner', id, { default_branch: '..' })).toMatchObject({ status: 400 })
})

it('only owners decide who sees a project', async () => {
  const { id } = await newProject()
  expect(await change(maintainer, id, { visibility: 'public' })).toEqual({
    status: 403,
    body: { message: '403 Forbidden - You need at least the role Owner in this project' },
  })
  expect(await change(maintainer, id, { visibility: 'private', name: 'same' })).toMatchObject({ status: 200 })
  expect(await change('owner', id, { visibility: 'public' })).toMatchObject({
    body: { visibility: 'public' },
  })
  expect((await harness.send('guest', 'GET', `/projects/${id}`)).status).toBe(200)
  expect(await change('admin', id, { visibility: 'private' })).toMatchObject({
    body: { visibility: 'private' },
  })
  expect((await harness.send('guest', 'GET', `/projects/${id}`)).status).toBe(404)
})

it('the audit log records a change only when something changed', async () => {
  const { id } = await newProject()
  const fields = { name: 'noted', default_services: ['billing'] }
  await change(maintainer, id, fields)
  await change(maintainer, id, fields)
  const audit = await outcome(
    harness.send('admin', 'GET', `/audit_events?entity_type=Project&entity_id=${id}`),
  )
  expect(audit.body).toMatchObject([
    {
      event_name: 'project_updated',
      author_id: harness.users.user.id,
      details: { changed: ['name', 'default_services'] },
    },
  ])
  expect(audit.body).toHaveLength(1)
})

it.each([
  [{}, { error: expect.stringContaining('at least one parameter must be provided') }],
  [{ name: '' }, { error: 'name is empty' }],
  [{ name: '#' }, { message: { name: [expect.stringContaining('can contain only')] } }],
  [{ path: 'a/b' }, { message: { path: [expect.stringContaining('can contain only')] } }],
  [{ visibility: 'secret' }, { error: 'visibility does not have a valid value' }],
  [{ description: 'a\0b' }, { error: 'description is invalid' }],
])('refuses %j', async (fields, body) => {
  const { id } = await newProject()
  expect(await change('owner', id, fields)).toEqual({ status: 400, body })
})

it('a change needs a maintainer of a project that is visible to them', async () => {
  const { id } = await newProject()
  expect((await change('guest', id, {})).status).toBe(401)
  expect((await change('unknown', id, {})).status).toBe(401)
  expect((await change('owner', 2_000_000_000, {})).status).toBe(404)
  expect((await change('ownerReading', id, { name: 'x' })).status).toBe(403)
})
