import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Harness, json, outcome, startHarness } from './harness.js'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness?.close())

const ask = (who: string, method: string, rest = '', body?: object) =>
  outcome(harness.send(who, method, `/saved_views${rest}`, body && json(body)))
const view = { name: 'Failed bookings', page: 'sagas', query: 'status=Error&service=booking' }
const idOf = ({ body }: { body: unknown }) => (body as { id: number }).id

it('views are stored, listed, shown, changed and deleted', async () => {
  const saved = await ask('user', 'POST', '', view)
  expect(saved).toEqual({
    status: 201,
    body: {
      id: expect.any(Number),
      ...view,
      created_at: expect.stringMatching(/Z$/),
      updated_at: expect.stringMatching(/Z$/),
    },
  })
  const all = await ask('user', 'POST', '', { name: 'All', page: 'failures', query: '' })
  expect(await ask('user', 'GET')).toEqual({ status: 200, body: [all.body, saved.body] })
  expect(await ask('user', 'GET', '?page=sagas')).toEqual({ status: 200, body: [saved.body] })
  expect(await ask('user', 'GET', `/${idOf(saved)}`)).toEqual({ status: 200, body: saved.body })
  expect(await ask('user', 'PUT', `/${idOf(saved)}`, { query: 'status=Ended' })).toMatchObject({
    status: 200,
    body: { ...view, query: 'status=Ended' },
  })
  expect(await ask('user', 'DELETE', `/${idOf(saved)}`)).toEqual({ status: 204, body: null })
  expect(await ask('user', 'DELETE', `/${idOf(all)}`)).toEqual({ status: 204, body: null })
  expect(await ask('user', 'GET')).toEqual({ status: 200, body: [] })
})

it('a user has one view of a name and page', async () => {
  const taken = { status: 409, body: { message: 'Name has already been taken' } }
  await ask('owner', 'POST', '', view)
  expect(await ask('owner', 'POST', '', { ...view, query: '' })).toEqual(taken)
  const other = await ask('owner', 'POST', '', { ...view, page: 'failures' })
  expect(other.status).toBe(201)
  expect(await ask('owner', 'PUT', `/${idOf(other)}`, { page: 'sagas' })).toEqual(taken)
  expect((await ask('user', 'POST', '', view)).status).toBe(201)
})

it('nobody sees the views of another user, not even administrators', async () => {
  const id = idOf(await ask('owner', 'POST', '', { ...view, name: 'Own' }))
  const missing = { status: 404, body: { message: '404 Saved View Not Found' } }
  for (const who of ['user', 'admin']) {
    expect(await ask(who, 'GET', `/${id}`)).toEqual(missing)
    expect(await ask(who, 'PUT', `/${id}`, { name: 'Theirs' })).toEqual(missing)
    expect(await ask(who, 'DELETE', `/${id}`)).toEqual(missing)
  }
  expect(await ask('admin', 'GET')).toEqual({ status: 200, body: [] })
  expect(await ask('owner', 'GET', `/${id}`)).toMatchObject({ body: { name: 'Own' } })
  expect(await ask('owner', 'GET', '/999999')).toEqual(missing)
})

it.each([
  [{ name: undefined }, 'name is missing'],
  [{ name: ' ' }, 'name is empty'],
  [{ name: 'x'.repeat(101) }, 'name is too long (maximum is 100 characters)'],
  [{ page: undefined }, 'page is missing'],
  [{ page: '../admin' }, 'page does not have a valid value'],
  [{ page: 'x'.repeat(51) }, 'page is too long (maximum is 50 characters)'],
  [{ query: undefined }, 'query is missing'],
  [{ query: 'x'.repeat(2001) }, 'query is too long (maximum is 2000 characters)'],
  [{ query: 'a\0b' }, 'query is invalid'],
])('answers 400 for %j', async (given, error) => {
  expect(await ask('user', 'POST', '', { ...view, ...given })).toEqual({ status: 400, body: { error } })
})

it('a user has at most 50 views, even when they are saved at the same time', async () => {
  const { id } = harness.users.admin
  await harness.database.prisma.savedView.createMany({
    data: Array.from({ length: 47 }, (_, index) => ({
      userId: id,
      page: 'sagas',
      name: `${index}`,
      query: '',
    })),
  })
  const answers = await Promise.all(
    Array.from({ length: 6 }, (_, index) => ask('admin', 'POST', '', { ...view, name: `new ${index}` })),
  )
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 201, 400, 400, 400])
  expect(answers.find(({ status }) => status === 400)?.body).toEqual({
    message: 'A user can have 50 saved views at most',
  })
})

it('views need a token for the API, and changes need one that may write', async () => {
  for (const [method, rest] of [
    ['GET', ''],
    ['POST', ''],
    ['GET', '/1'],
    ['PUT', '/1'],
    ['DELETE', '/1'],
  ] as const) {
    expect((await ask('guest', method, rest)).status).toBe(401)
    expect((await ask('ownerRepository', method, rest)).status).toBe(403)
    expect((await ask('ownerReading', method, rest)).status).toBe(
      method !== 'GET' ? 403 : rest === '' ? 200 : 404,
    )
  }
})
