import { createHash } from 'node:crypto'
import { createDatabase, type Database } from '@switchyard/db'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  addMember,
  createProject,
  createTestDatabase,
  createToken,
  createUser,
  type TestDatabase,
} from '../src/index.js'

let testDatabase: TestDatabase
let database: Database

beforeAll(async () => {
  testDatabase = await createTestDatabase()
  database = createDatabase({ url: testDatabase.url, poolSizeMax: 2, applicationName: 'test' })
})

afterAll(async () => {
  await database.close()
  await testDatabase.close()
})

test('a token is stored only as the SHA-256 of its secret', async () => {
  const user = await createUser(database, { username: 'Mixed-Case' })
  const { secret, token } = await createToken(database, user, { scopes: ['read_api'] })
  expect(user.usernameKey).toBe('mixed-case')
  expect(secret).toMatch(/^glpat-/)
  const stored = await database.prisma.personalAccessToken.findUniqueOrThrow({ where: { id: token.id } })
  expect(Buffer.from(stored.tokenHash)).toEqual(createHash('sha256').update(secret).digest())
  expect(stored).toMatchObject({ userId: user.id, scopes: ['read_api'] })
})

test('a project belongs to its owner, and its path on disk is the hash of its id', async () => {
  const owner = await createUser(database)
  const project = await createProject(database, owner, { path: 'Tools', visibility: 'public' })
  const hash = createHash('sha256').update(String(project.id)).digest('hex')
  expect(project).toMatchObject({
    pathWithNamespace: `${owner.username}/Tools`,
    pathKey: `${owner.username}/tools`,
    diskPath: `@hashed/${hash.slice(0, 2)}/${hash.slice(2, 4)}/${hash}.git`,
    visibility: 'public',
  })
  const member = await addMember(database, project, await createUser(database), 30)
  expect(member).toMatchObject({ projectId: project.id, accessLevel: 30 })
})
