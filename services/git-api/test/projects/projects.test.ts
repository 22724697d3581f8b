import { existsSync } from 'node:fs'
import { rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { diskPathOf } from '@switchyard/git-storage/repository-files'
import { waitFor } from '@switchyard/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { form, type Harness, json, outcome, startHarness } from '../harness.js'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness?.close())

const unauthorized = { status: 401, body: { message: '401 Unauthorized' } }
const forbidden = {
  status: 403,
  body: { message: '403 Forbidden - You need at least the role Owner in this project' },
}
const noProject = { status: 404, body: { message: '404 Project Not Found' } }

const create = (who: string, given: Record<string, unknown>) =>
  outcome(harness.send(who, 'POST', '/projects', json(given)))

async function made(given: Record<string, unknown>, who = 'owner') {
  const { status, body } = await create(who, given)
  expect(status).toBe(201)
  return { id: Number(body?.id), body: body ?? {} }
}

const repositoryOf = (id: number) => join(harness.storageRoot, diskPathOf(id))

describe('POST /projects', () => {
  it('creates a project with an empty bare repository', async () => {
    const { id, body } = await made({ name: 'My First Project', description: 'Trains' })
    expect(body).toMatchObject({
      name: 'My First Project',
      name_with_namespace: expect.stringMatching(/ \/ My First Project$/),
      path: 'my-first-project',
      path_with_namespace: 'Owner/my-first-project',
      description: 'Trains',
      default_branch: 'main',
      visibility: 'private',
      empty_repo: true,
      ssh_url_to_repo: '',
      http_url_to_repo: `${harness.baseUrl}/Owner/my-first-project.git`,
      web_url: `${harness.baseUrl}/Owner/my-first-project`,
      namespace: { kind: 'user', full_path: 'Owner' },
      owner: { id: harness.users.owner.id, username: 'Owner' },
      permissions: { project_access: { access_level: 50 } },
      created_at: expect.stringMatching(/Z$/),
    })
    expect(existsSync(join(repositoryOf(id), 'HEAD'))).toBe(true)
  })

  it('creates a first commit on request', async () => {
    const { id, body } = await made({
      path: 'readme',
      default_branch: 'trunk',
      initialize_with_readme: 'true',
    })
    expect(body).toMatchObject({ empty_repo: false, default_branch: 'trunk', name: 'readme' })
    const commits = await outcome(harness.send('owner', 'GET', `/projects/${id}/repository/commits`))
    expect(commits).toMatchObject({ status: 200, body: [{ title: 'Initial commit' }] })
  })

  it('accepts a form, and lets administrators create projects for others', async () => {
    const fields = { path: 'by-form', namespace_id: String(harness.users.owner.id), visibility: 'public' }
    const answer = await outcome(harness.send('admin', 'POST', '/projects', form(fields)))
    expect(answer).toMatchObject({
      status: 201,
      body: { path_with_namespace: 'Owner/by-form', visibility: 'public' },
    })
    expect(await create('user', { path: 'x', namespace_id: harness.users.owner.id })).toEqual({
      status: 400,
      body: { message: { namespace: ['is not valid'] } },
    })
  })

  it('refuses a taken path, in any case, and keeps the existing repository', async () => {
    const { id } = await made({ path: 'taken' })
    const taken = ['has already been taken']
    expect(await create('owner', { path: 'TAKEN' })).toEqual({
      status: 400,
      body: { message: { name: taken, path: taken } },
    })
    expect(existsSync(repositoryOf(id))).toBe(true)
    await made({ path: 'taken' }, 'user')
  })

  it('creates one project when many requests have the same path at once', async () => {
    const answers = await Promise.all(Array.from({ length: 5 }, () => create('owner', { path: 'race' })))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 400, 400, 400, 400])
  })

  it('leaves no row behind when the repository cannot be created', async () => {
    // Every later project finds a file in place of its folder, which stops even root.
    const hashed = join(harness.storageRoot, '@hashed')
    await rename(hashed, `${hashed}.away`)
    await writeFile(hashed, '')
    const failed = await create('owner', { path: 'unlucky' })
    await rm(hashed)
    await rename(`${hashed}.away`, hashed)
    expect(failed).toEqual({ status: 500, body: { message: '500 Internal Server Error' } })
    expect(await outcome(harness.send('owner', 'GET', '/projects/Owner%2Funlucky'))).toEqual(noProject)
  })

  it.each([
    [{}, { error: 'name, path are missing, at least one parameter must be provided' }],
    [{ path: '' }, { error: 'path is empty' }],
    [{ path: {} }, { error: 'path is invalid' }],
    [{ path: 'a\0' }, { error: 'path is invalid' }],
    [{ path: 'x', visibility: 'secret' }, { error: 'visibility does not have a valid value' }],
    [{ path: 'x', initialize_with_readme: 'maybe' }, { error: 'initialize_with_readme is invalid' }],
    [{ path: 'x', default_branch: '-x' }, { message: { default_branch: ['is not a valid branch name'] } }],
    [{ path: 'x.git' }, { message: { path: [expect.any(String)] } }],
    [{ path: '../x' }, { message: expect.objectContaining({ path: [expect.any(String)] }) }],
    [{ name: '<b>' }, { message: { name: [expect.any(String)] } }],
    [{ name: '🚀' }, { message: { path: [expect.any(String)] } }],
  ])('refuses %j', async (given, body) => {
    expect(await create('owner', given)).toEqual({ status: 400, body })
  })

  it('needs a signed-in caller who may write', async () => {
    expect(await create('guest', { path: 'x' })).toEqual(unauthorized)
    expect((await create('ownerReading', { path: 'x' })).status).toBe(403)
  })
})

describe('GET /projects/:id', () => {
  it('finds by id and by full path, with encoded slashes and dots, in any case', async () => {
    const { id } = await made({ path: 'dots.and-dashes_1.0' })
    for (const reference of [String(id), 'Owner%2Fdots.and-dashes_1.0', 'owner%2fDOTS.and-dashes_1%2E0']) {
      const { status, body } = await outcome(harness.send('owner', 'GET', `/projects/${reference}`))
      expect({ status, id: body?.id }).toEqual({ status: 200, id })
    }
  })

  it('hides private projects, and internal ones from guests', async () => {
    await made({ path: 'hidden' })
    await made({ path: 'inner', visibility: 'internal' })
    await made({ path: 'open', visibility: 'public' })
    const statuses = async (path: string) => {
      const who = ['guest', 'user', 'ownerReading', 'admin']
      return Promise.all(
        who.map(async (one) => (await harness.send(one, 'GET', `/projects/Owner%2F${path}`)).status),
      )
    }
    expect(await statuses('hidden')).toEqual([404, 404, 200, 200])
    expect(await statuses('inner')).toEqual([404, 200, 200, 200])
    expect(await statuses('open')).toEqual([200, 200, 200, 200])
    expect(await outcome(harness.send('user', 'GET', '/projects/Owner%2Fhidden'))).toEqual(noProject)
    expect(await outcome(harness.send('unknown', 'GET', '/projects/Owner%2Fopen'))).toEqual(unauthorized)
  })

  it.each(['0', '99999999999999', 'name', 'a%2Fb', '%00', 'a%2F%00', '-1', '..%2F..'])(
    'answers 404 for %s',
    async (reference) => {
      expect(await outcome(harness.send('admin', 'GET', `/projects/${reference}`))).toEqual(noProject)
    },
  )

  it('refuses a token whose scope covers only code', async () => {
    const { id } = await made({ path: 'scoped' })
    const { status, body } = await outcome(harness.send('ownerRepository', 'GET', `/projects/${id}`))
    expect({ status, error: body?.error }).toEqual({ status: 403, error: 'insufficient_scope' })
    const commits = await harness.send('ownerRepository', 'GET', `/projects/${id}/repository/commits`)
    expect(commits.status).toBe(200)
  })
})

describe('GET /projects', () => {
  const names = async (who: string, query: string) => {
    const { status, body } = await outcome<{ path: string }[]>(harness.send(who, 'GET', `/projects?${query}`))
    expect(status).toBe(200)
    return body?.map(({ path }) => path)
  }

  it('lists the projects that are visible to the caller, filtered and ordered', async () => {
    await made({ path: 'list-private' })
    await made({ path: 'list-internal', visibility: 'internal' })
    await made({ path: 'list-mine' }, 'user')
    const search = 'search=LIST-&order_by=path&sort=asc'
    expect(await names('user', search)).toEqual(['list-internal', 'list-mine'])
    expect(await names('owner', search)).toEqual(['list-internal', 'list-private'])
    expect(await names('admin', search)).toEqual(['list-internal', 'list-mine', 'list-private'])
    expect(await names('admin', `${search}&membership=true`)).toEqual([])
    expect(await names('user', `${search}&owned=true`)).toEqual(['list-mine'])
    expect(await names('owner', `${search}&visibility=internal`)).toEqual(['list-internal'])
    expect(await names('owner', 'search=list-&order_by=id')).toEqual(['list-internal', 'list-private'])
    expect(await names('owner', 'search=%25')).toEqual([])
  })

  it('is paged', async () => {
    const response = await harness.send('owner', 'GET', '/projects?search=list-&per_page=1&page=2')
    expect(response.headers.get('X-Total')).toBe('2')
    expect(response.headers.get('X-Prev-Page')).toBe('1')
    expect(await response.json()).toHaveLength(1)
  })

  it('refuses unknown tokens, tokens without scope and bad filters', async () => {
    expect(await outcome(harness.send('unknown', 'GET', '/projects'))).toEqual(unauthorized)
    expect((await harness.send('ownerRepository', 'GET', '/projects')).status).toBe(403)
    expect(await outcome(harness.send('user', 'GET', '/projects?order_by=owner_id&sort=up'))).toEqual({
      status: 400,
      body: { error: 'order_by does not have a valid value, sort does not have a valid value' },
    })
  })
})

describe('DELETE /projects/:id', () => {
  it('removes the project and its repository', async () => {
    const { id } = await made({ path: 'to-go' })
    expect(await outcome(harness.send('owner', 'DELETE', `/projects/${id}`))).toEqual({
      status: 202,
      body: { message: '202 Accepted' },
    })
    expect(await outcome(harness.send('owner', 'GET', `/projects/${id}`))).toEqual(noProject)
    expect(existsSync(repositoryOf(id))).toBe(false)
    await made({ path: 'to-go' })
  })

  it('removes statuses and pipelines without waiting for the project, also more than fit one statement', async () => {
    const { id } = await made({ path: 'to-empty' })
    const { pool } = harness.database
    await pool.query(
      `INSERT INTO commit_statuses (project_id, sha, pipeline_id, name, status)
       SELECT $1, 'a', 0, n, 'success' FROM generate_series(1, 20001) n`,
      [id],
    )
    await pool.query('INSERT INTO pipelines (project_id, sha) SELECT $1, n FROM generate_series(1, 3) n', [
      id,
    ])
    const posting = await pool.connect()
    try {
      await posting.query('BEGIN')
      await posting.query('SELECT FROM projects WHERE id = $1 FOR KEY SHARE', [id])
      const deleted = harness.send('owner', 'DELETE', `/projects/${id}`)
      const isEmpty = async () => {
        const { rows } = await pool.query(
          `SELECT FROM commit_statuses WHERE project_id = $1 UNION ALL SELECT FROM pipelines WHERE project_id = $1`,
          [id],
        )
        return rows.length === 0
      }
      await waitFor(isEmpty, { what: 'the statuses to be removed' })
      await posting.query('COMMIT')
      expect((await deleted).status).toBe(202)
    } finally {
      posting.release()
    }
    expect((await harness.send('owner', 'GET', `/projects/${id}`)).status).toBe(404)
  })

  it('takes as long as the deletion of its rows', async () => {
    const { id } = await made({ path: 'to-wait' })
    const { pool } = harness.database
    const other = await pool.connect()
    try {
      await other.query('BEGIN')
      await other.query('SELECT FROM projects WHERE id = $1 FOR UPDATE', [id])
      const deleted = harness.send('owner', 'DELETE', `/projects/${id}`)
      const isSlow = async () => {
        const { rowCount } = await pool.query(
          `SELECT FROM pg_stat_activity WHERE datname = current_database()
            AND wait_event_type = 'Lock' AND query_start < now() - interval '5.5 s'`,
        )
        return rowCount === 1
      }
      await waitFor(isSlow, { what: 'the deletion to be slow' })
      await other.query('ROLLBACK')
      expect((await deleted).status).toBe(202)
    } finally {
      other.release()
    }
    expect((await harness.send('owner', 'GET', `/projects/${id}`)).status).toBe(404)
  })

  it('needs the owner or an administrator', async () => {
    const { id } = await made({ path: 'to-stay', visibility: 'internal' })
    const path = `/projects/${id}`
    expect(await outcome(harness.send('guest', 'DELETE', path))).toEqual(unauthorized)
    expect(await outcome(harness.send('user', 'DELETE', path))).toEqual(forbidden)
    expect((await harness.send('ownerReading', 'DELETE', path)).status).toBe(403)
    const hidden = await made({ path: 'to-hide' })
    expect(await outcome(harness.send('user', 'DELETE', `/projects/${hidden.id}`))).toEqual(noProject)
    expect((await harness.send('admin', 'DELETE', path)).status).toBe(202)
  })
})
