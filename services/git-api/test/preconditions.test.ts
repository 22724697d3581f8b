import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Harness, json, startHarness } from './harness.js'

let harness: Harness
let of: string

beforeAll(async () => {
  harness = await startHarness({ env: { WEBHOOK_ALLOWED_HOSTS: 'hooks.example.com' } })
  of = `/projects/${(await made('/projects', { name: 'shop', initialize_with_readme: true })).id}`
})
afterAll(() => harness?.close())

const made = async (path: string, body: object) => {
  const answer = await harness.send('admin', 'POST', path, json(body))
  expect(answer.status).toBe(201)
  return (await answer.json()) as { id: number; tag_name: string; name: string }
}

interface Resource {
  /** Creates a resource and returns its path. */
  make: () => Promise<string>
  /** Two changes with different values. */
  changes: [object, object]
  /** The field that the changes set. */
  field: string
  /** Unset: PUT. */
  method?: 'PATCH'
  /** Path of the call that must precede the deletion. Unset: none. */
  end?: string
}

interface Discussion {
  id: string
  notes: { id: number }[]
}

let count = 0
const fresh = (name: string) => {
  count += 1
  return `${name}-${count}`
}

const release = async () => (await made(`${of}/releases`, { tag_name: fresh('v'), ref: 'main' })).tag_name

const resources: Record<string, Resource> = {
  'a project': {
    make: async () => `/projects/${(await made('/projects', { name: fresh('edited') })).id}`,
    changes: [{ description: 'one' }, { description: 'two' }],
    field: 'description',
  },
  'a user': {
    async make() {
      const username = fresh('ada')
      return `/users/${(await made('/users', { username, name: 'Ada', email: `${username}@example.com` })).id}`
    },
    changes: [{ name: 'Ada L.' }, { name: 'Ada B.' }],
    field: 'name',
  },
  'a member': {
    async make() {
      const username = fresh('member')
      const user = await made('/users', { username, name: 'M', email: `${username}@example.com` })
      await made(`${of}/members`, { user_id: user.id, access_level: 20 })
      return `${of}/members/${user.id}`
    },
    changes: [{ access_level: 30 }, { access_level: 40 }],
    field: 'access_level',
  },
  'an impact rule': {
    make: async () =>
      `${of}/impact_rules/${(await made(`${of}/impact_rules`, { name: 'Stop', freeze: true })).id}`,
    changes: [{ ratio_min: 2 }, { ratio_min: 3 }],
    field: 'ratio_min',
  },
  'a webhook': {
    make: async () => `${of}/hooks/${(await made(`${of}/hooks`, { url: 'https://hooks.example.com/0' })).id}`,
    changes: [{ url: 'https://hooks.example.com/1' }, { url: 'https://hooks.example.com/2' }],
    field: 'url',
  },
  'an environment': {
    make: async () => `${of}/environments/${(await made(`${of}/environments`, { name: fresh('env') })).id}`,
    changes: [{ description: 'one' }, { description: 'two' }],
    field: 'description',
    end: '/stop',
  },
  'a deployment': {
    async make() {
      const fields = { environment: fresh('env'), sha: 'main', ref: 'main', tag: false, status: 'created' }
      return `${of}/deployments/${(await made(`${of}/deployments`, fields)).id}`
    },
    changes: [{ status: 'running' }, { status: 'failed' }],
    field: 'status',
  },
  'a protected environment': {
    async make() {
      const given = { name: fresh('env'), deploy_access_levels: [{ access_level: 40 }] }
      return `${of}/protected_environments/${(await made(`${of}/protected_environments`, given)).name}`
    },
    changes: [{ required_approval_count: 1 }, { required_approval_count: 2 }],
    field: 'required_approval_count',
  },
  'a freeze period': {
    make: async () =>
      `${of}/freeze_periods/${(await made(`${of}/freeze_periods`, { freeze_start: '0 1 * * *', freeze_end: '0 2 * * *' })).id}`,
    changes: [{ freeze_start: '0 3 * * *' }, { freeze_start: '0 4 * * *' }],
    field: 'freeze_start',
  },
  'a release': {
    make: async () => `${of}/releases/${await release()}`,
    changes: [{ description: 'one' }, { description: 'two' }],
    field: 'description',
  },
  'a link of a release': {
    async make() {
      const links = `${of}/releases/${await release()}/assets/links`
      return `${links}/${(await made(links, { name: 'one', url: 'https://example.com/1' })).id}`
    },
    changes: [{ name: 'two' }, { name: 'three' }],
    field: 'name',
  },
  'a protected branch': {
    async make() {
      const { name } = await made(`${of}/protected_branches`, { name: fresh('release') })
      return `${of}/protected_branches/${name}`
    },
    changes: [{ allow_force_push: true }, { allow_force_push: false }],
    field: 'allow_force_push',
    method: 'PATCH',
  },
  'a note of a discussion': {
    async make() {
      const discussions = `${of}/repository/commits/main/discussions`
      const { id, notes } = (await made(discussions, { body: 'zero' })) as unknown as Discussion
      return `${discussions}/${id}/notes/${notes[0]?.id}`
    },
    changes: [{ body: 'one' }, { body: 'two' }],
    field: 'body',
  },
  'a saved view': {
    make: async () =>
      `/saved_views/${(await made('/saved_views', { name: fresh('view'), page: 'sagas', query: 'a=1' })).id}`,
    changes: [{ query: 'a=2' }, { query: 'a=3' }],
    field: 'query',
  },
}

const read = async (path: string, headers: Record<string, string> = {}) => {
  const answer = await harness.send('admin', 'GET', path, { headers })
  const text = await answer.text()
  return {
    status: answer.status,
    etag: answer.headers.get('ETag') ?? '',
    body: (text ? JSON.parse(text) : {}) as Record<string, unknown>,
  }
}

const send = async (path: string, body: object, headers: Record<string, string>, method = 'PUT') => {
  const init = json(body)
  const answer = await harness.send('admin', method, path, {
    ...init,
    headers: { ...init.headers, ...headers },
  })
  return { status: answer.status, etag: answer.headers.get('ETag') ?? '', body: await answer.json() }
}

const longAgo = { 'If-Unmodified-Since': new Date(Date.now() - 60_000).toUTCString() }

describe.each(Object.entries(resources))('%s', (_name, resource) => {
  const { make, changes, field, method, end } = resource
  const [first, second] = changes
  const change = (path: string, body: object, headers: Record<string, string>) =>
    send(path, body, headers, method)

  it('is changed with the tag that was read, and not with it again', async () => {
    const path = await make()
    const { etag } = await read(path)
    expect(etag).toMatch(/^W\/".+\.[0-9a-z]+"$/)
    const changed = await change(path, first, { 'If-Match': etag })
    expect(changed.status).toBe(200)
    const refused = await change(path, second, { 'If-Match': etag })
    expect(refused).toMatchObject({
      status: 412,
      body: { message: '412 Precondition Failed', request_id: expect.any(String) },
    })
    expect((await read(path)).body).toMatchObject(first)
    expect((await change(path, second, { 'If-Match': changed.etag })).status).toBe(200)
    expect((await read(path)).body[field]).toEqual(second[field as keyof object])
  })

  it('is changed by one of two requests with the same version', async () => {
    const path = await make()
    const { etag } = await read(path)
    const headers = { 'If-Match': `"of-something-else", ${etag}` }
    const answers = await Promise.all([change(path, first, headers), change(path, second, headers)])
    // Each change would be allowed alone.
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 412])
  })

  it('is changed only when it has not changed since the given time', async () => {
    const path = await make()
    expect((await change(path, first, longAgo)).status).toBe(412)
    const now = { 'If-Unmodified-Since': new Date(Date.now() + 1000).toUTCString() }
    expect((await change(path, first, now)).status).toBe(200)
    expect((await change(path, second, { 'If-Unmodified-Since': 'yesterday' })).status).toBe(200)
  })

  it('is changed in any version with a star, and not with a tag of another resource', async () => {
    const path = await make()
    expect((await change(path, first, { 'If-Match': '"2-abc"' })).status).toBe(412)
    expect((await change(path, first, { 'If-Match': 'nothing' })).status).toBe(412)
    // With both headers, If-Match takes precedence.
    expect((await change(path, first, { 'If-Match': '*', ...longAgo })).status).toBe(200)
  })

  it('is deleted only in the version that was read', async () => {
    const path = await make()
    const { etag } = await read(path)
    for (const body of changes) await change(path, body, {})
    if (end) await send(`${path}${end}`, {}, {}, 'POST')
    const remove = async (headers: Record<string, string>) =>
      (await harness.send('admin', 'DELETE', path, { headers })).status
    expect([await remove({ 'If-Match': etag }), await remove(longAgo)]).toEqual([412, 412])
    const now = await read(path)
    expect(now.status).toBe(200)
    expect([200, 202, 204]).toContain(await remove({ 'If-Match': now.etag }))
    expect((await read(path)).status).toBe(404)
    expect(await remove({ 'If-Match': now.etag })).toBe(404)
  })

  it('is not sent again to clients that have it', async () => {
    const path = await make()
    const { etag } = await read(path)
    expect((await read(path, { 'If-None-Match': etag })).status).toBe(304)
  })
})

it('the tag of a project does not change with a push', async () => {
  const { etag } = await read(of)
  const commit = {
    branch: 'main',
    commit_message: 'More',
    actions: [{ action: 'create', file_path: 'more.txt', content: 'more' }],
  }
  await made(`${of}/repository/commits`, commit)
  expect((await send(of, { description: 'kept' }, { 'If-Match': etag })).status).toBe(200)
})

it('a missing resource is answered with 404, whatever the tag', async () => {
  expect((await send(`${of}/environments/99999`, { tier: 'other' }, { 'If-Match': '"x.1"' })).status).toBe(
    404,
  )
})

it('412 is documented for every change', async () => {
  const document = (await (await fetch(`${harness.baseUrl}/-/openapi.json`)).json()) as {
    paths: Record<string, { put?: { responses: object }; patch?: { responses: object } }>
  }
  const without = Object.entries(document.paths).filter(([, { put, patch }]) =>
    [put, patch].some((change) => change && !('412' in change.responses)),
  )
  // Files use `last_commit_id` instead; the content of a Git LFS object is its name; files of packages are
  // added, not changed; submodules have no version.
  expect(
    without
      .map(([path]) => path)
      .filter(
        (path) =>
          !/repository\/(?:files|submodules)|\/(?:un)?protect$|gitlab-lfs|packages\/generic/.test(path),
      ),
  ).toEqual([])
})
