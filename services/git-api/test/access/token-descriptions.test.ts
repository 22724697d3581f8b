import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Harness, json, outcome, startHarness } from '../harness.js'

let harness: Harness
let project: number

beforeAll(async () => {
  harness = await startHarness()
  const made = await outcome(harness.send('admin', 'POST', '/projects', json({ path: 'shop' })))
  project = Number(made.body?.id)
})
afterAll(() => harness?.close())

it.each([
  [
    'a token of a user',
    () => `/users/${harness.users.user.id}/personal_access_tokens`,
    '/personal_access_tokens',
  ],
  ['a token of a project', () => `/projects/${project}/access_tokens`, undefined],
])('the description of %s goes on to the token that takes its place', async (_name, make, shownAt) => {
  const at = shownAt ?? make()
  const ask = (method: string, path: string, body?: object) =>
    outcome(harness.send('admin', method, path, body && json(body)))
  const given = { name: 'ci', scopes: ['api'], description: 'Builds the shop — every night' }
  const { description } = given
  const made = await ask('POST', make(), given)
  expect(made).toMatchObject({ status: 201, body: { description } })
  expect(await ask('GET', `${at}/${made.body?.id}`)).toMatchObject({ status: 200, body: { description } })
  const rotated = await ask('POST', `${at}/${made.body?.id}/rotate`)
  expect(rotated).toMatchObject({ status: 200, body: { description } })
  const secret = String(rotated.body?.token)
  const itself = await outcome(harness.send(secret, 'POST', `${at}/self/rotate`))
  expect(itself).toMatchObject({ status: 200, body: { description } })
  expect(await ask('GET', `${at}/${itself.body?.id}`)).toMatchObject({ status: 200, body: { description } })

  for (const nothing of [undefined, null, '']) {
    const plain = await ask('POST', make(), { ...given, description: nothing })
    expect(plain).toMatchObject({ status: 201, body: { description: null } })
    expect((await ask('GET', `${at}/${plain.body?.id}`)).body).toMatchObject({ description: null })
  }
  expect(await ask('POST', make(), { ...given, description: 'x'.repeat(4097) })).toMatchObject({
    status: 400,
    body: { error: 'description is too long (maximum is 4096 characters)' },
  })
})
