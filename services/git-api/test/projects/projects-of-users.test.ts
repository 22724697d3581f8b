import { addMember } from '@switchyard/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Harness, json, outcome, startHarness } from '../harness.js'

let harness: Harness
const ids: Record<string, number> = {}

beforeAll(async () => {
  harness = await startHarness()
  for (const [path, visibility] of Object.entries({ one: 'private', two: 'internal', three: 'public' })) {
    ids[path] = Number((await make('owner', { path, visibility })).body?.id)
  }
  ids.other = Number((await make('user', { path: 'other', visibility: 'public' })).body?.id)
  await addMember(harness.database, { id: ids.one as number }, harness.users.user, 30)
})
afterAll(() => harness?.close())

const unauthorized = { status: 401, body: { message: '401 Unauthorized' } }
const noUser = { status: 404, body: { message: '404 User Not Found' } }

const make = (who: string, fields: object, path = '/projects') =>
  outcome(harness.send(who, 'POST', path, json(fields)))
const found = async (who: string, rest: string) => {
  const response = await harness.send(who, 'GET', `/users/${rest}`)
  const body = (await response.json()) as { path: string }[]
  expect(response.headers.get('X-Total')).toBe(String(body.length))
  return body.map(({ path }) => path)
}

describe('GET /users/:id/projects', () => {
  it('lists the projects of the user that are visible to the caller, by id and by name', async () => {
    const own = harness.users.owner.id
    expect(await found('owner', `${own}/projects?order_by=id&sort=asc`)).toEqual(['one', 'two', 'three'])
    expect(await found('user', 'OWNER/projects?order_by=id')).toEqual(['three', 'two', 'one'])
    expect(await found('admin', `${own}/projects?search=t&sort=asc`)).toEqual(['two', 'three'])
    expect(await found('guest', `${own}/projects`)).toEqual(['three'])
    expect(await found('owner', `${harness.users.user.id}/projects`)).toEqual(['other'])
    expect(await found('owner', `${harness.users.user.id}/projects?owned=true`)).toEqual([])
    expect(await found('user', `${own}/projects?membership=true`)).toEqual(['one'])
  })

  it('refuses the same requests as GET /projects, and unknown users', async () => {
    const get = (who: string, rest: string) => outcome(harness.send(who, 'GET', `/users/${rest}`))
    expect(await get('user', '999999/projects')).toEqual(noUser)
    expect(await get('guest', 'nobody/projects')).toEqual(noUser)
    expect(await get('unknown', 'owner/projects')).toEqual(unauthorized)
    expect((await get('ownerRepository', 'owner/projects')).status).toBe(403)
    expect((await get('user', 'owner/projects?order_by=stars')).status).toBe(400)
    expect((await get('user', 'owner/projects?pagination=keyset')).status).toBe(405)
  })
})

describe('POST /projects/user/:user_id', () => {
  const at = (id: number | string) => `/projects/user/${id}`

  it('makes a project for a user', async () => {
    const { id } = harness.users.user
    const made = await make('admin', { name: 'For you', merge_method: 'ff' }, at(id))
    expect(made).toMatchObject({
      status: 201,
      body: { path: 'for-you', owner: { id }, namespace: { path: 'ordinary' }, merge_method: 'ff' },
    })
    expect((await make('admin', { name: 'For you' }, at(id))).status).toBe(400)
  })

  it('needs an administrator, and an existing user', async () => {
    expect(await make('guest', { path: 'x' }, at(1))).toEqual(unauthorized)
    expect((await make('user', { path: 'x' }, at(harness.users.user.id))).status).toBe(403)
    expect(await make('admin', { path: 'x' }, at(999_999))).toEqual(noUser)
    expect((await make('admin', {}, at(harness.users.user.id))).status).toBe(400)
    expect((await make('admin', { path: 'x' }, at('me'))).status).toBe(400)
  })
})

describe('GET /projects?order_by=similarity', () => {
  const given = ['has-rail-within', 'railway', 'rail', 'nothing', 'trail']

  it('puts the projects that are most similar to the search first, on every page', async () => {
    for (const path of given) await make('owner', { path, description: path === 'nothing' ? 'A rail' : '' })
    const ordered = ['rail', 'railway', 'trail', 'has-rail-within', 'nothing']
    const ask = async (query: string) => {
      const response = await harness.send('owner', 'GET', `/projects?search=RAIL&order_by=similarity${query}`)
      expect(response.headers.get('X-Total')).toBe('5')
      return ((await response.json()) as { path: string }[]).map(({ path }) => path)
    }
    expect(await ask('')).toEqual(ordered)
    expect(await ask('&sort=asc')).toEqual(ordered.toReversed())
    for (const page of [1, 2, 3]) {
      expect(await ask(`&per_page=2&page=${page}`)).toEqual(ordered.slice(2 * page - 2, 2 * page))
    }
    expect(await ask('&page=9')).toEqual([])
  })

  it('is the order of creation without a search, and star_count is the order of ids', async () => {
    const order = async (by: string) =>
      (await (await harness.send('owner', 'GET', `/projects?owned=true&order_by=${by}`)).json()) as object
    expect(await order('similarity')).toEqual(await order('created_at'))
    expect(await order('star_count')).toEqual(await order('id'))
  })
})
