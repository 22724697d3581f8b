import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { addMember, createToken, createUser } from '@switchyard/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Harness, json, outcome, startHarness } from '../harness.js'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness?.close())

const remove = (who: string, id: number | string, query = '') =>
  outcome(harness.send(who, 'DELETE', `/users/${id}${query}`))

async function person(username: string) {
  const user = await createUser(harness.database, { username })
  return { ...user, secret: await harness.secretOf(user) }
}

const project = async (secret: string, path: string) =>
  (await outcome(harness.send(secret, 'POST', '/projects', json({ path, initialize_with_readme: true }))))
    .body as { id: number }

it('a deleted user loses tokens and sessions, and their contributions to projects stay without a name', async () => {
  const { id: projectId } = await project(harness.tokens.owner, 'kept')
  const leaving = await person('leaving')
  await addMember(harness.database, { id: projectId }, leaving, 40)
  const of = `/projects/${projectId}`
  const post = (path: string, body: object) =>
    outcome(harness.send(leaving.secret, 'POST', `${of}${path}`, json(body)))
  await post('/repository/commits/main/comments', { note: 'Mine' })
  await post('/statuses/main', { state: 'success' })
  const made = await post('/access_tokens', { name: 'ci', scopes: ['api'], access_level: 30 })
  const projectToken = String(made.body?.token)
  const deployToken = await post('/deploy_tokens', { name: 'fetch', scopes: ['read_repository'] })
  expect([made.status, deployToken.status]).toEqual([201, 201])
  expect((await harness.send(projectToken, 'GET', of)).status).toBe(200)

  expect(await remove('admin', leaving.id)).toEqual({ status: 204, body: null })
  expect((await harness.send(leaving.secret, 'GET', '/user')).status).toBe(401)
  expect((await harness.send(projectToken, 'GET', of)).status).toBe(401)
  expect(await outcome(harness.send('owner', 'GET', `${of}/deploy_tokens`))).toMatchObject({ body: [] })
  const read = async (path: string) => (await outcome(harness.send('owner', 'GET', `${of}${path}`))).body
  expect(await read('/repository/commits/main/comments')).toMatchObject([{ note: 'Mine', author: null }])
  expect(await read('/repository/commits/main/statuses')).toMatchObject([{ author: null }])
  const members = (await read('/members')) as unknown as { username: string }[]
  expect(members.map(({ username }) => username)).not.toContain('leaving')
  expect(await remove('admin', leaving.id)).toMatchObject({
    status: 404,
    body: { message: '404 User Not Found' },
  })
  const events = `/audit_events?entity_type=User&entity_id=${leaving.id}&event_name=user_destroyed`
  expect((await outcome(harness.send('admin', 'GET', events))).body).toMatchObject([
    { details: { username: 'leaving', with_projects: false } },
  ])
  expect((await person('leaving')).id).not.toBe(leaving.id)
})

it('a user who owns projects is deleted only together with them', async () => {
  const owner = await person('landlord')
  const { id } = await project(owner.secret, 'house')
  const { diskPath } = await harness.database.prisma.project.findUniqueOrThrow({ where: { id } })
  const refused = { status: 409, body: { message: expect.stringContaining('they own a project') } }
  expect(await remove('admin', owner.id)).toMatchObject(refused)
  expect(await remove('admin', owner.id, '?hard_delete=maybe')).toMatchObject({ status: 400 })
  expect((await harness.send(owner.secret, 'GET', `/projects/${id}`)).status).toBe(200)
  expect(await remove('admin', owner.id, '?hard_delete=true')).toMatchObject({ status: 204 })
  expect((await harness.send('admin', 'GET', `/projects/${id}`)).status).toBe(404)
  expect(existsSync(join(harness.storageRoot, diskPath))).toBe(false)
  const events = `/audit_events?entity_type=Project&entity_id=${id}&event_name=project_destroyed`
  expect((await outcome(harness.send('admin', 'GET', events))).body).toHaveLength(1)
})

it('administrators cannot delete themselves or the first administrator', async () => {
  const { admin } = harness.users
  expect(await remove('admin', admin.id)).toMatchObject({ status: 403 })
  const root = await harness.database.prisma.user.findUniqueOrThrow({ where: { usernameKey: 'root' } })
  expect(await remove('admin', root.id, '?hard_delete=1')).toMatchObject({ status: 403 })
})

it('deleting a user needs an administrator with a token that may write', async () => {
  const { id } = await person('staying')
  const reading = (
    await createToken(harness.database, harness.users.admin, { scopes: ['read_api', 'read_user'] })
  ).secret
  expect((await remove('guest', id)).status).toBe(401)
  expect((await remove('user', id)).status).toBe(403)
  expect((await remove(reading, id)).status).toBe(403)
  expect((await remove('admin', 'staying')).status).toBe(400)
  expect((await remove('admin', 2_147_483_647)).status).toBe(404)
})

describe('with erase=true', () => {
  /** Returns every row that may contain the name of a user, as text. */
  async function rowsOfNames(): Promise<string> {
    const tables = [
      'users',
      'audit_events',
      'sagas',
      'saga_notes',
      'saga_bulk_jobs',
      'saga_bulk_items',
      'saga_commands',
    ]
    const texts = await Promise.all(
      tables.map((table) => harness.database.pool.query(`SELECT t::text AS row FROM ${table} t`)),
    )
    return texts.flatMap(({ rows }) => rows.map(({ row }) => row)).join('\n')
  }

  const writeAbout = ({ id, username }: { id: number; username: string }) =>
    harness.database.pool.query(`
      INSERT INTO audit_events (author_id, author_name, token_id, event_name, entity_type, entity_id, details, ip_address)
      VALUES (${id}, '${username}', 1, 'member_added', 'Project', '1', '{"user_id": 7}', '192.0.2.77'),
        (1, 'Root', 1, 'identity_linked', 'User', '${id}', '{"provider": "sso", "subject": "subject-of-${username}"}', NULL),
        (1, 'Root', 1, 'user_updated', 'User', '${id}', '{"username": "once-${username}"}', NULL),
        (1, 'Root', 1, 'project_destroyed', 'Project', '1', '{"path_with_namespace": "once-${username}/engine"}', NULL);
      INSERT INTO saga_notes (tenant, saga_id, author_id, author_name, body) VALUES ('default', 's', ${id}, '${username}', 'Seen');
      INSERT INTO saga_bulk_jobs (tenant, action, note, filter, author_id, author_name, undo_name, audit_author)
      VALUES ('default', 'note', '', '{}', ${id}, '${username}', '${username}',
        '{"authorId": ${id}, "authorName": "${username}", "ipAddress": "192.0.2.77"}');
      INSERT INTO saga_bulk_items (tenant, job_id, position, saga_id, previous_resolved_by)
      SELECT tenant, id, 1, 's', '${username}' FROM saga_bulk_jobs WHERE author_id = ${id};
      INSERT INTO saga_commands (tenant, saga_id, service_name, kind, reason, state, author_id, author_name, decided_by, expires_at)
      VALUES ('default', 's', 'booking', 'cancel', 'Late', 'denied', ${id}, '${username}', NULL, now()),
        ('default', 's', 'booking', 'cancel', 'Late', 'denied', 1, 'root', '${username}', now());
      INSERT INTO sagas (tenant, id, status, first_seen_at, last_event_at, resolved_at, resolved_by)
      VALUES ('default', 's-${id}', 'Ended', now(), now(), now(), '${username}')`)

  const entriesOf = async (id: number, name: string) =>
    (
      await outcome(
        harness.send('admin', 'GET', `/audit_events?entity_type=User&entity_id=${id}&event_name=${name}`),
      )
    ).body

  it('removes the name, the addresses and the subjects from the audit log and from sagas, and is recorded without the name', async () => {
    await createUser(harness.database, { username: 'same', name: 'Same' })
    const erased = await person('forgotten')
    const { id: projectId } = await project(erased.secret, 'gone')
    await writeAbout(erased)
    expect(await rowsOfNames()).toMatch(/forgotten/)
    expect(await remove('admin', erased.id, '?hard_delete=true&erase=true')).toMatchObject({ status: 204 })
    const rows = await rowsOfNames()
    expect(rows).not.toMatch(/forgotten|192\.0\.2\.77/i)
    const label = `deleted user ${erased.id}`
    expect(rows.split(label).length).toBeGreaterThan(10)
    expect(await entriesOf(erased.id, 'user_destroyed')).toMatchObject([{ details: { erased: true } }])
    const destroyed = `/audit_events?entity_type=Project&entity_id=${projectId}&event_name=project_destroyed`
    expect((await outcome(harness.send('admin', 'GET', destroyed))).body).toMatchObject([
      { details: { path_with_namespace: `${label}/gone` } },
    ])
    expect(await entriesOf(erased.id, 'user_updated')).toMatchObject([{ details: { username: label } }])
  })

  it('erases a user who was deleted before only once, and keeps a name that another user has by now', async () => {
    const former = await person('former')
    await writeAbout(former)
    expect(await remove('admin', former.id)).toMatchObject({ status: 204 })
    const namesake = await person('former')
    await writeAbout(namesake)
    expect(await remove('admin', former.id, '?erase=true')).toMatchObject({ status: 204 })
    expect(await entriesOf(former.id, 'user_erased')).toHaveLength(1)
    expect(await entriesOf(former.id, 'user_destroyed')).toMatchObject([
      { details: { username: `deleted user ${former.id}` } },
    ])
    const { rows } = await harness.database.pool.query<{ name: string }>(
      'SELECT author_name AS name FROM saga_notes WHERE author_id = ANY ($1) ORDER BY author_id',
      [[former.id, namesake.id]],
    )
    expect(rows.map(({ name }) => name)).toEqual([`deleted user ${former.id}`, 'former'])
    expect(await remove('admin', former.id, '?erase=true')).toMatchObject({ status: 404 })
  })

  it('needs an administrator, an existing or deleted user, and true or false', async () => {
    const { id } = await person('remembered')
    expect((await remove('guest', id, '?erase=true')).status).toBe(401)
    expect((await remove('user', id, '?erase=true')).status).toBe(403)
    expect((await remove('admin', id, '?erase=perhaps')).status).toBe(400)
    expect((await remove('admin', 2_147_483_647, '?erase=true')).status).toBe(404)
    expect((await harness.send('admin', 'GET', `/users/${id}`)).status).toBe(200)
  })
})
