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
  ['variables', 'Switchyard has no variables of CI: they belong to the CI system beside it'],
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

  it('are not made, which is said to who sees the list, and nothing else to others', async () => {
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

it('groups are an empty list for everybody, and are not made', async () => {
  expect(await get('guest', '/groups')).toEqual({ status: 200, body: [] })
  expect(await post('user', '/groups')).toEqual(
    refused('Switchyard has no groups: every project belongs to a user'),
  )
  expect(await post('guest', '/groups')).toEqual(unauthorized)
})
