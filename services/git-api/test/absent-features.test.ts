import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Harness, json, outcome, startHarness } from './harness.js'

let harness: Harness
const projects = { private: 0, public: 0 }

beforeAll(async () => {
  harness = await startHarness()
  for (const visibility of ['private', 'public'] as const) {
    const made = await outcome(
      harness.send('owner', 'POST', '/projects', json({ path: visibility, visibility })),
    )
    projects[visibility] = Number(made.body?.id)
  }
})
afterAll(() => harness?.close())

const noProject = { status: 404, body: { message: '404 Project Not Found' } }
const unauthorized = { status: 401, body: { message: '401 Unauthorized' } }
const refused = (reason: string) => ({ status: 403, body: { message: `403 Forbidden - ${reason}` } })

const given = json({ title: 'A', name: 'A', source_branch: 'a', target_branch: 'main' })
const get = (who: string, path: string) => outcome(harness.send(who, 'GET', path))
const post = (who: string, path: string) => outcome(harness.send(who, 'POST', path, given))

const kinds = [
  ['merge_requests', 'Switchyard has no merge requests: they belong to the forge beside it'],
  ['issues', 'Switchyard has no issues: they belong to the forge beside it'],
  ['labels', 'Switchyard has no labels: they belong to the forge beside it'],
  ['milestones', 'Switchyard has no milestones: they belong to the forge beside it'],
  ['variables', 'Switchyard has no variables of CI: they belong to the CI system beside it'],
  ['deploy_keys', 'Switchyard has no deploy keys: there is no SSH, and deploy tokens fetch over HTTP'],
] as const

describe.each(kinds)('%s of a project', (name, reason) => {
  const at = (visibility: keyof typeof projects) => `/projects/${projects[visibility]}/${name}`

  it('are an empty list with the headers of pages', async () => {
    const response = await harness.send('owner', 'GET', at('private'))
    expect(await response.json()).toEqual([])
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'x-total': '0',
      'x-page': '1',
      'x-per-page': '20',
    })
    expect(await get('owner', `${at('private')}?per_page=0`)).toMatchObject({ status: 400 })
  })

  it('have an empty list with the headers of pages', async () => {
    expect(await post('owner', at('private'))).toEqual(refused(reason))
    expect(await post('admin', at('public'))).toEqual(refused(reason))
    for (const ask of [get, post]) expect(await ask('user', at('private'))).toEqual(noProject)
    expect(await post('user', `/projects/999999/${name}`)).toEqual(noProject)
    for (const visibility of ['private', 'public'] as const) {
      expect(await post('guest', at(visibility))).toEqual(unauthorized)
      expect(await post('unknown', at(visibility))).toEqual(unauthorized)
      expect(await post('ownerReading', at(visibility))).toMatchObject({
        status: 403,
        body: { error: 'insufficient_scope' },
      })
    }
  })
})

it.each([
  ['merge_requests', 'merge requests'],
  ['issues', 'issues'],
])('%s of all projects are an empty list for everybody signed in, and are not made', async (name, things) => {
  expect(await get('user', `/${name}?scope=created_by_me&state=opened`)).toEqual({ status: 200, body: [] })
  expect(await get('user', `/${name}?page=0`)).toMatchObject({ status: 400 })
  for (const ask of [get, post]) {
    expect(await ask('guest', `/${name}`)).toEqual(unauthorized)
    expect(await ask('unknown', `/${name}`)).toEqual(unauthorized)
  }
  expect(await post('user', `/${name}`)).toEqual(
    refused(`Switchyard has no ${things}: they belong to the forge beside it`),
  )
})

it('cannot be added: callers who see the list learn the reason, others learn nothing else', async () => {
  expect(await get('guest', '/groups')).toEqual({ status: 200, body: [] })
  expect(await post('user', '/groups')).toEqual(
    refused('Switchyard has no groups: every project belongs to a user'),
  )
  expect(await post('guest', '/groups')).toEqual(unauthorized)
})

it.each(['7', 'owner', 'a%2Fb'])(
  'the group %s is not found, and has an empty list of projects',
  async (id) => {
    const notFound = { status: 404, body: { message: '404 Group Not Found' } }
    for (const who of ['guest', 'user', 'admin']) {
      expect(await get(who, `/groups/${id}`)).toEqual(notFound)
      expect(await get(who, `/groups/${id}/projects?simple=true`)).toEqual({ status: 200, body: [] })
    }
    expect(await get('user', `/groups/${id}/projects?per_page=0`)).toMatchObject({ status: 400 })
    expect(await get('unknown', `/groups/${id}/projects`)).toEqual(unauthorized)
  },
)

it('groups have an empty list for everybody, and cannot be added', async () => {
  expect(await get('user', '/events')).toEqual({ status: 200, body: [] })
  expect(await get('guest', '/events')).toEqual(unauthorized)
})

it('a project has no events and no languages, for those who may see it', async () => {
  for (const [name, empty] of [
    ['events', []],
    ['languages', {}],
  ] as const) {
    const at = (visibility: keyof typeof projects) => `/projects/${projects[visibility]}/${name}`
    expect(await get('owner', at('private'))).toEqual({ status: 200, body: empty })
    expect(await get('guest', at('public'))).toEqual({ status: 200, body: empty })
    for (const who of ['user', 'guest']) expect(await get(who, at('private'))).toEqual(noProject)
    expect(await get('unknown', at('public'))).toEqual(unauthorized)
  }
})
