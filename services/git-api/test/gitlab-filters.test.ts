import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Harness, json, outcome, startHarness } from './harness.js'

let harness: Harness
let project: { id: number; path_with_namespace: string }

beforeAll(async () => {
  harness = await startHarness()
  const made = await harness.send(
    'owner',
    'POST',
    '/projects',
    json({ name: 'demo', initialize_with_readme: true }),
  )
  project = (await made.json()) as typeof project
  for (const user of [harness.users.user, harness.users.admin]) {
    const member = { user_id: user.id, access_level: 30 }
    await harness.send('owner', 'POST', `/projects/${project.id}/members`, json(member))
  }
  const token = { name: 'ci', scopes: ['api'], access_level: 30 }
  await harness.send('owner', 'POST', `/projects/${project.id}/access_tokens`, json(token))
})
afterAll(() => harness?.close())

const listed = async (who: string, path: string, key: string) => {
  const response = await harness.send(who, 'GET', path)
  expect(response.status, path).toBe(200)
  const rows = (await response.json()) as Record<string, unknown>[]
  expect(response.headers.get('X-Total'), path).toBe(String(rows.length))
  return rows.map((row) => row[key]).toSorted()
}

const isBot = (name: unknown) => String(name).startsWith('project_')

it('users are filtered by rights, kind, projects and time', async () => {
  const names = (query: string) => listed('admin', `/users?${query}`, 'username')
  const all = await names('per_page=100')
  expect(all.filter(isBot)).toHaveLength(1)
  expect(await names('admins=true')).toEqual(['admin-user', 'root'].filter((name) => all.includes(name)))
  expect(await names('humans=true')).toEqual(all.filter((name) => !isBot(name)))
  expect(await names('without_project_bots=true')).toEqual(all.filter((name) => !isBot(name)))
  expect(await names('exclude_humans=true')).toEqual(all.filter(isBot))
  expect(await names('humans=true&exclude_humans=true')).toEqual([])
  expect(await names('without_projects=true')).toEqual(all.filter((name) => name !== 'Owner'))
  expect(await names('exclude_active=true')).toEqual([])
  expect(await names('active=true&exclude_active=true')).toEqual([])
  expect(await names('created_after=2999-01-01')).toEqual([])
  expect(await names('created_before=2999-01-01')).toEqual(all)
})

it('members are selected and excluded by id', async () => {
  const { user, admin, owner } = harness.users
  const ids = (query: string) => listed('owner', `/projects/${project.id}/members?${query}`, 'id')
  const sorted = (...users: { id: number }[]) => users.map(({ id }) => id).toSorted()
  expect(await ids(`user_ids[]=${user.id}&user_ids[]=${admin.id}`)).toEqual(sorted(user, admin))
  expect(await ids(`user_ids=${user.id},${owner.id}`)).toEqual(sorted(user, owner))
  expect(await ids(`user_ids[]=${user.id}&skip_users[]=${user.id}`)).toEqual([])
  expect(await ids(`skip_users[]=${owner.id}&state=active`)).not.toContain(owner.id)
  const awaiting = await harness.send('owner', 'GET', `/projects/${project.id}/members?state=awaiting`)
  expect(await outcome(awaiting)).toEqual({
    status: 400,
    body: { error: 'state is not supported: every member is active' },
  })
})

it('projects are filtered as active, and by features that no project has', async () => {
  const ids = (query: string) => listed('owner', `/projects?owned=true&${query}`, 'id')
  expect(await ids('active=true')).toEqual([project.id])
  expect(await ids('active=false')).toEqual([])
  expect(await ids('active=true&archived=true')).toEqual([])
  expect(await ids('starred=true')).toEqual([])
  expect(await ids('starred=false&imported=false&statistics=false')).toEqual([project.id])
  const refused = await harness.send('owner', 'GET', '/projects?with_programming_language=Go&statistics=true')
  expect(await outcome(refused)).toEqual({
    status: 400,
    body: {
      error:
        'with_programming_language is not supported: languages are not detected, statistics is not supported in lists: ask for one project',
    },
  })
})

it.each(['issues', 'merge_requests'])('projects are found by whether they have %s', async (feature) => {
  const ids = (query: string) => listed('owner', `/projects?owned=true&${query}`, 'id')
  const change = (value: boolean) =>
    harness.send('owner', 'PUT', `/projects/${project.id}`, json({ [`${feature}_enabled`]: value }))
  expect(await ids(`with_${feature}_enabled=true`)).toEqual([project.id])
  expect((await change(false)).status).toBe(200)
  expect(await ids(`with_${feature}_enabled=true`)).toEqual([])
  expect(await ids(`with_${feature}_enabled=false`)).toEqual([project.id])
  expect((await change(true)).status).toBe(200)
  expect(await ids(`with_${feature}_enabled=true`)).toEqual([project.id])
})

it('a comparison with another project is refused, and a comparison with the project itself is not', async () => {
  const compare = (id: unknown) =>
    harness.send(
      'owner',
      'GET',
      `/projects/${project.id}/repository/compare?from=main&to=main&from_project_id=${id}`,
    )
  expect((await compare(project.id)).status).toBe(200)
  expect((await compare('')).status).toBe(200)
  expect(await outcome(compare(999_999))).toEqual({
    status: 400,
    body: { error: 'from_project_id must be the project itself: there are no forks' },
  })
})

it('a user is not created when a requested right cannot be granted', async () => {
  const given = { email: 'e@example.com', username: 'external', name: 'E', password: 'ignored' }
  const refused = await harness.send('admin', 'POST', '/users', json({ ...given, external: true }))
  expect(await outcome(refused)).toEqual({
    status: 400,
    body: { error: 'external is not supported: every user sees internal projects' },
  })
  expect((await harness.send('admin', 'POST', '/users', json({ ...given, external: false }))).status).toBe(
    201,
  )
})

it('a project is deleted only under the path in the request', async () => {
  const wrong = await harness.send('owner', 'DELETE', `/projects/${project.id}?full_path=Owner/other`)
  expect(await outcome(wrong)).toEqual({
    status: 400,
    body: { error: 'full_path is not the path of the project' },
  })
  const path = encodeURIComponent(project.path_with_namespace)
  const right = await harness.send(
    'owner',
    'DELETE',
    `/projects/${project.id}?permanently_remove=true&full_path=${path}`,
  )
  expect(right.status).toBe(202)
})
