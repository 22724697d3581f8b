import { dayMs } from '@switchyard/domain'
import { createGitRepository, createUser, type TestGitRepository, waitFor } from '@switchyard/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type GitHarness, startGitHarness } from '../git-harness.js'

let harness: GitHarness
let work: TestGitRepository
beforeAll(async () => {
  harness = await startGitHarness()
  work = await createGitRepository()
  await work.commit({ files: { 'a.txt': 'a\n' } })
})
afterAll(async () => {
  await work?.close()
  await harness?.close()
})

const dayIn = (days: number) => new Date(Math.floor(Date.now() / dayMs) * dayMs + days * dayMs)
const textIn = (days: number) => dayIn(days).toISOString().slice(0, 10)

/** Creates a private project, and a user who is not yet a member of it. */
async function scene() {
  const project = await harness.project()
  const user = await createUser(harness.database)
  const members = `/projects/${project.id}/members`
  const end = (userId: number, day: Date) =>
    harness.database.prisma.projectMember.update({
      where: { projectId_userId: { projectId: project.id, userId } },
      data: { expiresAt: day },
    })
  const add = (fields: object) =>
    harness.ask('owner', 'POST', members, { user_id: user.id, access_level: 30, ...fields })
  return { project, user, members, add, end }
}

describe('the expiry of a membership', () => {
  it('is stored, shown, changed and removed, and recorded in the audit log', async () => {
    const { project, user, members, add } = await scene()
    const ends = textIn(30)
    expect(await add({ expires_at: ends })).toMatchObject({ status: 201, body: { expires_at: ends } })
    const shown = async () => (await harness.ask('owner', 'GET', `${members}/${user.id}`)).body.expires_at
    const change = (fields: object) =>
      harness.ask('owner', 'PUT', `${members}/${user.id}`, { access_level: 30, ...fields })
    expect(await shown()).toBe(ends)
    expect((await harness.ask('owner', 'GET', `${members}/all`)).body).toContainEqual(
      expect.objectContaining({ id: user.id, expires_at: ends }),
    )
    // Fields that a change does not contain stay.
    expect((await change({ access_level: 20 })).body).toMatchObject({ access_level: 20, expires_at: ends })
    expect((await change({ expires_at: `${textIn(60)}T12:00:00Z` })).body.expires_at).toBe(textIn(60))
    expect((await change({ expires_at: '' })).body.expires_at).toBeNull()
    expect((await change({ expires_at: ends })).body.expires_at).toBe(ends)
    expect((await change({ expires_at: null })).body.expires_at).toBeNull()
    expect(await shown()).toBeNull()
    const { rows } = await harness.database.pool.query(
      `SELECT details FROM audit_events WHERE entity_type = 'Project' AND entity_id = $1
        AND event_name LIKE 'member%' ORDER BY id`,
      [String(project.id)],
    )
    expect(rows.map(({ details }) => details)).toMatchObject([
      { user_id: user.id, expires_at: ends },
      { access_level: 20 },
      { expires_at: textIn(60), expires_at_before: ends },
      { expires_at: null, expires_at_before: textIn(60) },
      { expires_at: ends, expires_at_before: null },
      { expires_at: null, expires_at_before: ends },
    ])
  })

  it('must be a valid date that is not in the past', async () => {
    const { user, members, add } = await scene()
    const past = { message: { expires_at: ['cannot be a date in the past'] } }
    expect(await add({ expires_at: textIn(-1) })).toMatchObject({ status: 400, body: past })
    expect(await add({ expires_at: '2030-02-30' })).toMatchObject({
      status: 400,
      body: { error: 'expires_at is invalid' },
    })
    expect((await harness.ask('owner', 'GET', `${members}/${user.id}`)).status).toBe(404)
    expect((await add({})).status).toBe(201)
    const change = { access_level: 30, expires_at: textIn(-1) }
    expect(await harness.ask('owner', 'PUT', `${members}/${user.id}`, change)).toMatchObject({
      status: 400,
      body: past,
    })
  })

  it('removes the role in the API, in git and from lists, in every process', async () => {
    const { project, end } = await scene()
    const other = await harness.start()
    const path = `/projects/${project.id}/repository/branches`
    const statuses = () =>
      Promise.all([
        harness.send('developer', 'GET', path).then(({ status }) => status),
        harness.send('developer', 'GET', path, undefined, other).then(({ status }) => status),
      ])
    await work.git('push', '--quiet', harness.remote('developer', project), 'HEAD:refs/heads/before')
    expect(await statuses()).toEqual([200, 200])
    const { body: developer } = await harness.ask('developer', 'GET', '/user')
    await end(developer.id, dayIn(0))
    await waitFor(async () => (await statuses()).every((status) => status === 404))
    const pushed = work.git('push', '--quiet', harness.remote('developer', project), 'HEAD:refs/heads/after')
    await expect(pushed).rejects.toThrow(/not found/i)
    const projects = `/projects?id_after=${project.id - 1}&per_page=100`
    for (const filter of ['', '&membership=true', '&min_access_level=30'])
      expect((await harness.ask('developer', 'GET', `${projects}${filter}`)).body).toEqual([])
    const members = `/projects/${project.id}/members`
    const { body } = await harness.ask('owner', 'GET', members)
    expect(body.map(({ id }: { id: number }) => id)).not.toContain(developer.id)
    for (const [method, change] of [['GET'], ['PUT', { access_level: 30 }], ['DELETE']] as const)
      expect((await harness.ask('owner', method, `${members}/${developer.id}`, change)).status).toBe(404)
  })

  it('does not prevent adding the user again', async () => {
    const { user, members, add, end } = await scene()
    expect((await add({ expires_at: textIn(1) })).status).toBe(201)
    expect((await add({})).status).toBe(409)
    await end(user.id, dayIn(-1))
    expect(await add({ access_level: 20 })).toMatchObject({
      status: 201,
      body: { access_level: 20, expires_at: null },
    })
    expect((await harness.ask('owner', 'GET', `${members}/${user.id}`)).status).toBe(200)
  })
})
