import { addMember } from '@switchyard/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Harness, json, outcome, startHarness } from '../harness.js'

let harness: Harness
/** A private project of `owner`. */
let project: { id: number }
beforeAll(async () => {
  harness = await startHarness()
  const { body } = await outcome(harness.send('owner', 'POST', '/projects', json({ path: 'shared' })))
  project = { id: Number(body?.id) }
})
afterAll(() => harness?.close())

const unauthorized = { status: 401, body: { message: '401 Unauthorized' } }
const noProject = { status: 404, body: { message: '404 Project Not Found' } }

async function newUser(username: string, name = username) {
  const given = { username, name, email: `${username}@example.com` }
  const { body } = await outcome(harness.send('admin', 'POST', '/users', json(given)))
  return { id: Number(body?.id) }
}

const members = (suffix = '') => `/projects/${project.id}/members${suffix}`

describe.each(['users', 'members', 'members/all', 'members/1', 'members/all/1'])(
  'GET /projects/:id/%s',
  (suffix) => {
    it('needs a signed-in user who may see the project', async () => {
      const path = `/projects/${project.id}/${suffix}`
      const guest = await newUser(`guest-of-${suffix.replaceAll('/', '-')}`)
      const secret = await harness.secretOf(guest)
      expect(await outcome(harness.send('guest', 'GET', path))).toEqual(unauthorized)
      expect(await outcome(harness.send(secret, 'GET', path))).toEqual(noProject)
      expect((await harness.send('ownerRepository', 'GET', path)).status).toBe(403)
      await addMember(harness.database, project, guest, 10)
      expect(await outcome(harness.send(secret, 'GET', path))).toEqual(
        await outcome(harness.send('owner', 'GET', path)),
      )
      expect((await harness.send('ownerReading', 'GET', path)).status).not.toBe(403)
    })
  },
)

it('members are found by a part of their name or username, in any case', async () => {
  const wanted = await newUser('percent-100', 'Ada 100% L')
  await addMember(harness.database, project, wanted, 20)
  const found = async (query: string) => {
    const answers = await Promise.all(
      ['', '/all'].map((list) =>
        harness.send('owner', 'GET', members(`${list}?query=${encodeURIComponent(query)}`)),
      ),
    )
    const [direct, all] = await Promise.all(answers.map((answer) => answer.json()))
    expect(all).toEqual(direct)
    const names = (direct as { username: string }[]).map(({ username }) => username)
    expect(answers[0]?.headers.get('X-Total')).toBe(String(names.length))
    return names
  }
  expect(await found('ADA')).toEqual(['percent-100'])
  expect(await found('0% l')).toEqual(['percent-100'])
  expect(await found('CENT-1')).toEqual(['percent-100'])
  expect(await found('percent-100@example.com')).toEqual([])
  expect(await found('%')).toEqual(['percent-100'])
  expect((await found(' ')).length).toBeGreaterThan(1)
  expect(await outcome(harness.send('owner', 'GET', members('?query[]=a')))).toMatchObject({ status: 400 })
})

it('the users of a project are its members, found by part of a name and without the skipped ones', async () => {
  const one = await newUser('user-one', 'Bea')
  const two = await newUser('user-two', 'Bea Two')
  for (const user of [one, two]) await addMember(harness.database, project, user, 20)
  const found = async (query: string) => {
    const { status, body } = await outcome<{ id: number; access_level?: number }[]>(
      harness.send('owner', 'GET', `/projects/${project.id}/users?${query}`),
    )
    expect(status).toBe(200)
    return body?.map(({ id, access_level }) => {
      expect(access_level).toBe(undefined)
      return id
    })
  }
  expect(await found('search=BEA')).toEqual([one.id, two.id])
  expect(await found(`search=bea&skip_users[]=${one.id}`)).toEqual([two.id])
  expect(await found('search=nobody')).toEqual([])
  expect((await harness.send('owner', 'GET', `/projects/${project.id}/users?skip_users=x`)).status).toBe(400)
})
