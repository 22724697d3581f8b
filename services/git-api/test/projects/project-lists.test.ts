import { addMember, createUser } from '@switchyard/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { form, type Harness, json, outcome, startHarness } from '../harness.js'

let harness: Harness
const ids: Record<string, number> = {}

beforeAll(async () => {
  harness = await startHarness()
  const given = [
    { path: 'engine', topics: ['steam', 'rail'], description: 'Pulls 100% of it' },
    { path: 'tender', topics: 'steam, coal,,steam', visibility: 'internal' },
    { path: 'wagon', tag_list: ['rail'], visibility: 'public' },
  ]
  for (const fields of given) {
    const { status, body } = await outcome(harness.send('owner', 'POST', '/projects', json(fields)))
    expect(status).toBe(201)
    ids[fields.path] = Number(body?.id)
  }
  await addMember(harness.database, { id: ids.engine as number }, harness.users.user, 30)
  await addMember(harness.database, { id: ids.wagon as number }, harness.users.user, 20)
  await harness.send('owner', 'POST', `/projects/${ids.wagon}/archive`)
})
afterAll(() => harness?.close())

async function found(query: string, who = 'owner') {
  const response = await harness.send(who, 'GET', `/projects?order_by=id&sort=asc&${query}`)
  const body = (await response.json()) as { path: string }[]
  expect(response.headers.get('X-Total')).toBe(String(body.length))
  return body.map(({ path }) => path)
}

describe('GET /projects', () => {
  it.each([
    ['', ['engine', 'tender', 'wagon']],
    ['topic=steam', ['engine', 'tender']],
    ['topic=steam,rail', ['engine']],
    ['topic=Steam', []],
    ['archived=true', ['wagon']],
    ['archived=false', ['engine', 'tender']],
    ['search=100%25', ['engine']],
    ['search=owner/te', []],
    ['search=owner/te&search_namespaces=true', ['tender']],
    ['starred=true', []],
    ['last_activity_after=2000-01-01', ['engine', 'tender', 'wagon']],
    ['last_activity_after=2000-01-01&updated_after=2999-01-01', []],
    ['updated_before=2000-01-01', []],
    ['min_access_level=50', ['engine', 'tender', 'wagon']],
  ])('?%s', async (query, expected) => {
    expect(await found(query)).toEqual(expected)
  })

  it('shows everybody the public projects, with the fields that do not depend on the caller', async () => {
    expect(await found('', 'guest')).toEqual(['wagon'])
    for (const none of ['membership=true', 'owned=true', 'min_access_level=10', 'visibility=internal'])
      expect(await found(none, 'guest')).toEqual([])
    const one = await harness.send('guest', 'GET', '/projects?search=wag')
    const simple = await harness.send('owner', 'GET', '/projects?simple=true&search=wag')
    expect(await one.json()).toEqual(await simple.json())
  })

  it("filters by id and by the caller's level", async () => {
    expect(await found(`id_after=${ids.engine}`)).toEqual(['tender', 'wagon'])
    expect(await found(`id_before=${ids.wagon}&id_after=${ids.engine}`)).toEqual(['tender'])
    expect(await found('min_access_level=10', 'user')).toEqual(['engine', 'wagon'])
    expect(await found('min_access_level=30', 'user')).toEqual(['engine'])
    expect(await found('min_access_level=30', 'admin')).toEqual([])
  })

  it.each([
    ['asc', ['engine', 'tender', 'wagon']],
    ['desc', ['wagon', 'tender', 'engine']],
  ])('is read on by Link alone with pagination=keyset, %s', async (sort, expected) => {
    const read: string[] = []
    let link: string | undefined = `/projects?pagination=keyset&order_by=id&sort=${sort}&per_page=2&page=7`
    while (link !== undefined) {
      const response = await harness.send('owner', 'GET', link)
      expect(response.headers.get('X-Total')).toBe(null)
      read.push(...((await response.json()) as { path: string }[]).map(({ path }) => path))
      const next = /<([^>]+)>; rel="next"/.exec(response.headers.get('Link') ?? '')?.[1]
      link = next?.replace(`${harness.baseUrl}/api/v4`, '')
    }
    expect(read).toEqual(expected)
  })

  it('links to further pages in the other orders, within the same filter', async () => {
    const query = `simple=true&id_after=${ids.engine}&per_page=1&order_by=id&pagination=keyset&sort=desc`
    const response = await harness.send('owner', 'GET', `/projects?${query}`)
    const next = new URL(/<([^>]+)>/.exec(response.headers.get('Link') ?? '')?.[1] ?? '')
    expect(Object.fromEntries(next.searchParams)).toMatchObject({
      id_after: String(ids.engine),
      id_before: String(ids.wagon),
    })
    const last = await harness.send('owner', 'GET', next.pathname.replace('/api/v4', '') + next.search)
    expect([last.headers.get('Link'), await last.json()]).toMatchObject([null, [{ path: 'tender' }]])
  })

  it('links to further pages by id', async () => {
    const refused = await outcome(harness.send('owner', 'GET', '/projects?pagination=keyset&order_by=name'))
    expect(refused.status).toBe(405)
    expect(JSON.stringify(refused.body)).toContain('Keyset pagination is not yet available')
  })

  it('shows fewer fields with simple=true', async () => {
    const { body } = await outcome<object[]>(
      harness.send('owner', 'GET', '/projects?simple=true&search=engine'),
    )
    const [project] = body ?? []
    expect(project).toMatchObject({ path: 'engine', topics: ['steam', 'rail'], namespace: { path: 'Owner' } })
    for (const key of ['owner', 'permissions', 'empty_repo', '_links'])
      expect(project).not.toHaveProperty(key)
  })

  it.each(['order_by=stars', 'min_access_level=7', 'id_after=x', 'updated_after=soon', 'archived=maybe'])(
    'refuses %s',
    async (query) => {
      expect((await harness.send('owner', 'GET', `/projects?${query}`)).status).toBe(400)
    },
  )
})

it('shows an access level to every caller of a project', async () => {
  const levelOf = async (who: string, path: string) => {
    const { body } = await outcome(harness.send(who, 'GET', `/projects/${ids[path]}`))
    const shown = body as { permissions: { project_access: { access_level: number } | null } }
    return shown.permissions.project_access?.access_level
  }
  expect(await levelOf('owner', 'engine')).toBe(50)
  expect(await levelOf('admin', 'engine')).toBe(50)
  expect(await levelOf('user', 'engine')).toBe(30)
  expect(await levelOf('user', 'tender')).toBe(10)
  expect(await levelOf('guest', 'wagon')).toBe(undefined)
})

describe('PUT /projects/:id', () => {
  const change = (fields: object) =>
    outcome(harness.send('owner', 'PUT', `/projects/${ids.tender}`, json(fields)))

  it('changes topics, and stores the fields that only GitLab has', async () => {
    expect((await change({ topics: ['coal', ' water ', 'coal', ''] })).body).toMatchObject({
      topics: ['coal', 'water'],
      tag_list: ['coal', 'water'],
    })
    const fields = form({ 'topics[]': 'a,b', merge_method: 'ff' })
    const byForm = await outcome(harness.send('owner', 'PUT', `/projects/${ids.tender}`, fields))
    expect(byForm.body).toMatchObject({ topics: ['a,b'] })
    expect(await change({ issues_enabled: true, lfs_enabled: true, squash_option: 'never' })).toMatchObject({
      status: 200,
      body: { topics: ['a,b'], issues_enabled: true },
    })
    expect((await change({ topics: [] })).body).toMatchObject({ topics: [] })
  })

  it.each([
    [{ topics: ['x'.repeat(256)] }, 'topics has a topic that is too long (maximum is 255 characters)'],
    [{ topics: Array.from({ length: 101 }, () => 'x') }, 'topics has more than 100 items'],
    [{ topics: [{}] }, 'topics[0] is invalid'],
    [{ nothing_known: 1 }, expect.stringContaining('at least one parameter must be provided')],
  ])('refuses %j', async (fields, error) => {
    expect(await change(fields)).toEqual({ status: 400, body: { error } })
  })
})

describe('POST /projects/:id/archive', () => {
  it('makes a project read-only until the owner reverts it', async () => {
    const path = `/projects/${ids.tender}`
    const archived = await outcome(harness.send('owner', 'POST', `${path}/archive`))
    expect(archived).toMatchObject({ status: 201, body: { archived: true } })
    const refused = { status: 403, body: { message: '403 Forbidden - The project is archived' } }
    const branch = json({ branch: 'x', ref: 'main' })
    expect(await outcome(harness.send('owner', 'POST', `${path}/repository/branches`, branch))).toEqual(
      refused,
    )
    expect(await outcome(harness.send('admin', 'POST', `${path}/statuses/main`))).toEqual(refused)
    const push = `${harness.baseUrl}/Owner/tender.git/info/refs?service=git-receive-pack`
    const authorization = `Basic ${Buffer.from(`any:${harness.tokens.owner}`).toString('base64')}`
    expect((await fetch(push, { headers: { authorization } })).status).toBe(403)
    const fetched = push.replace('receive', 'upload')
    expect((await fetch(fetched, { headers: { authorization } })).status).toBe(200)
    expect((await harness.send('owner', 'PUT', path, json({ description: 'Put away' }))).status).toBe(200)
    await harness.send('owner', 'POST', `${path}/archive`)
    const back = await outcome(harness.send('owner', 'POST', `${path}/unarchive`))
    expect(back).toMatchObject({ status: 201, body: { archived: false } })
    const created = await outcome(harness.send('owner', 'POST', `${path}/repository/branches`, branch))
    expect(created.body?.message).toContain('invalid reference name')
    const query = `/audit_events?entity_type=Project&entity_id=${ids.tender}`
    const { body } = await outcome<{ event_name: string }[]>(harness.send('admin', 'GET', query))
    const names = body?.map(({ event_name }) => event_name)
    expect(names?.filter((name) => name.endsWith('archived'))).toEqual([
      'project_unarchived',
      'project_archived',
    ])
  })

  it('needs the owner', async () => {
    for (const call of ['archive', 'unarchive']) {
      const statusOf = async (who: string, path: string) =>
        (await harness.send(who, 'POST', `/projects/${ids[path]}/${call}`)).status
      expect(await statusOf('guest', 'engine')).toBe(401)
      expect(await statusOf('user', 'engine')).toBe(403)
      expect((await harness.send('user', 'POST', `/projects/999999/${call}`)).status).toBe(404)
    }
  })
})

describe('namespaces', () => {
  const get = (who: string, path: string) => outcome(harness.send(who, 'GET', `/namespaces${path}`))

  it("are the caller's own, and all for administrators", async () => {
    const own = await get('owner', '')
    expect(own.body).toEqual([
      {
        id: harness.users.owner.id,
        name: harness.users.owner.name,
        path: 'Owner',
        kind: 'user',
        full_path: 'Owner',
        parent_id: null,
        avatar_url: null,
        web_url: `${harness.baseUrl}/Owner`,
      },
    ])
    expect((await get('admin', '?search=OWN')).body).toEqual(own.body)
    expect((await get('admin', '')).body?.length).toBeGreaterThan(2)
    expect((await get('admin', '?owned_only=true')).body).toMatchObject([{ path: 'admin-user' }])
    const [shown] = own.body as unknown as { id: number }[]
    for (const reference of [shown?.id, 'owner'])
      expect((await get('owner', `/${reference}`)).body).toEqual(shown)
  })

  it('of other users are visible only to administrators', async () => {
    const notFound = { status: 404, body: { message: '404 Namespace Not Found' } }
    for (const reference of ['Owner', harness.users.owner.id, 'nobody', '999999999']) {
      expect(await get('user', `/${reference}`)).toEqual(notFound)
    }
    expect((await get('admin', '/owner')).status).toBe(200)
    expect((await get('guest', '/owner')).status).toBe(401)
    expect((await get('guest', '')).status).toBe(401)
  })

  it('that exist are answered with a free name', async () => {
    await createUser(harness.database, { username: 'owner1' })
    expect((await get('user', '/OWNER/exists')).body).toEqual({ exists: true, suggests: ['OWNER2'] })
    expect((await get('user', '/owner2/exists')).body).toEqual({ exists: false, suggests: [] })
    expect((await get('user', '/owner/exists?parent_id=1')).body).toEqual({ exists: false, suggests: [] })
    expect((await get('guest', '/owner/exists')).status).toBe(401)
  })
})
