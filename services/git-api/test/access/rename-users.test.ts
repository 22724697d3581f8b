import { createProject, createToken, createUser } from '@switchyard/testing'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Harness, json, outcome, startHarness } from '../harness.js'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness?.close())

const rounds = 60

/** Sends requests one after the other. @returns the answers other than 200 and 201 */
async function failuresOf(send: (round: number) => Promise<Response>): Promise<unknown[]> {
  const failures: unknown[] = []
  for (let round = 0; round < rounds; round += 1) {
    const answer = await outcome(send(round))
    if (answer.status >= 300) failures.push(answer)
  }
  return failures
}

async function ownerWithProject(given: { admin: boolean }) {
  const owner = await createUser(harness.database, given)
  const { secret } = await createToken(harness.database, owner, { scopes: ['api'] })
  const fields = { path: 'path', initialize_with_readme: true }
  const { body } = await outcome(harness.send(secret, 'POST', '/projects', json(fields)))
  const rename = (round: number) =>
    harness.send('admin', 'PUT', `/users/${owner.id}`, json({ username: `name-${owner.id}-${round}` }))
  return { secret, project: `/projects/${body?.id}`, rename }
}

const unlessChanged = { 'If-Unmodified-Since': 'Fri, 31 Dec 9999 23:59:59 GMT' }

it.each([
  { what: 'the path of a project changes', admin: false },
  { what: 'the path of a project of an administrator changes', admin: true },
  { what: 'the path changes if nobody has changed the project', admin: true, headers: unlessChanged },
  { what: 'the path changes along with settings', admin: true, withSettings: true },
])('a user gets another name while $what', async ({ admin, headers = {}, withSettings = false }) => {
  const { secret, project, rename } = await ownerWithProject({ admin })
  const move = (round: number) => {
    const setting = { wiki_access_level: round % 2 === 0 ? 'disabled' : 'enabled' }
    const given = json({ path: `path-${round}`, ...(withSettings && setting) })
    return harness.send(secret, 'PUT', project, { ...given, headers: { ...given.headers, ...headers } })
  }
  expect(await Promise.all([failuresOf(rename), failuresOf(move)])).toEqual([[], []])
})

it('renaming a user works while an administrator deploys a project of the user', async () => {
  const { secret, project, rename } = await ownerWithProject({ admin: false })
  const { body: commit } = await outcome(harness.send(secret, 'GET', `${project}/repository/commits/main`))
  const deployment = {
    environment: 'production',
    sha: commit?.id,
    ref: 'main',
    tag: false,
    status: 'running',
  }
  const deploy = () => harness.send('admin', 'POST', `${project}/deployments`, json(deployment))
  expect(await Promise.all([failuresOf(rename), failuresOf(deploy)])).toEqual([[], []])
})

it('a user with several projects gets another name while somebody becomes a member of all of them', async () => {
  const { database } = harness
  const owner = await createUser(database, {})
  const projects = [
    await createProject(database, owner, { path: 'one' }),
    await createProject(database, owner, { path: 'two' }),
  ]
  const [first, second] = projects.map(({ id }) => id)
  // PostgreSQL reads a row whose indexed columns have changed after the other one.
  await database.pool.query("UPDATE projects SET path_key = path_key || '-moved' WHERE id = $1", [first])

  const client = await database.pool.connect()
  try {
    await client.query('BEGIN')
    const lock = 'SELECT FROM projects WHERE id = $1 FOR KEY SHARE'
    await client.query(lock, [first])
    const renamed = outcome(harness.send('admin', 'PUT', `/users/${owner.id}`, json({ username: 'renamed' })))
    const waiting = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
    await expect.poll(async () => (await database.pool.query(waiting)).rowCount).toBe(1)
    await client.query(lock, [second])
    await client.query('COMMIT')
    expect((await renamed).status).toBe(200)
  } finally {
    client.release()
  }
})
