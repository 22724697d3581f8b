import { afterAll, beforeAll, expect, it } from 'vitest'
import { json, startHarness } from './harness.js'

let harness: Awaited<ReturnType<typeof startHarness>>
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness?.close())

const path = '/broadcast_messages'
const given = {
  message: 'Deploy',
  starts_at: '2040-01-01T10:00:30.123Z',
  ends_at: '2041-01-01T10:00:30.123Z',
  color: '#112233',
  font: '#445566',
  broadcast_type: 'notification',
  dismissable: true,
  target_path: '/a/*',
  theme: 'light-red',
}
const changed = {
  message: 'Deployed',
  starts_at: '2042-01-01T10:00:30.123Z',
  ends_at: '2043-01-01T10:00:30.123Z',
  color: '#223344',
  font: '#556677',
  broadcast_type: 'banner',
  dismissable: false,
  target_path: '/b/*',
  theme: 'dark',
}

async function ask(method: string, at: string, body?: object) {
  const response = await harness.send('admin', method, at, body && json(body))
  return { status: response.status, body: JSON.parse(await response.text()) }
}

it('a message is read back as given, alone and in its list', async () => {
  const { paths, components } = JSON.parse(await (await fetch(`${harness.baseUrl}/-/openapi.json`)).text())
  const documented = (method: string, at: string) => {
    const { $ref } = paths[at][method].requestBody.content['application/json'].schema
    return Object.keys(components.schemas[$ref.split('/').at(-1)].properties).sort()
  }
  const fields = [...Object.keys(given), 'target_access_levels'].sort()
  expect(documented('post', path)).toEqual(fields)
  expect(documented('put', `${path}/{id}`)).toEqual(fields)

  const made = await ask('POST', path, given)
  expect(made).toMatchObject({ status: 201, body: given })
  expect(await ask('GET', `${path}/${made.body.id}`)).toEqual({ status: 200, body: made.body })
  const now = await ask('PUT', `${path}/${made.body.id}`, changed)
  expect(now).toMatchObject({ status: 200, body: changed })
  expect(await ask('GET', path)).toEqual({ status: 200, body: [now.body] })
})

it('a message for some roles only is refused, because everybody would see it', async () => {
  const refused = {
    status: 400,
    body: { error: 'target_access_levels is not supported: a message is for everybody' },
  }
  expect(await ask('POST', path, { ...given, target_access_levels: [40] })).toMatchObject(refused)
  const { status } = await ask('POST', path, { ...given, target_access_levels: [] })
  expect(status).toBe(201)
})
