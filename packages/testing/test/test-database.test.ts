import { createDatabase } from '@switchyard/db'
import pg from 'pg'
import { expect, test } from 'vitest'
import { createTestDatabase } from '../src/index.js'

async function countUsers(url: string): Promise<number> {
  const database = createDatabase({ url, poolSizeMax: 1, applicationName: 'test' })
  try {
    return await database.prisma.user.count()
  } finally {
    await database.close()
  }
}

test('databases that are created at the same time are migrated and separate', async () => {
  const databases = await Promise.all([createTestDatabase(), createTestDatabase(), createTestDatabase()])
  try {
    expect(new Set(databases.map(({ url }) => url)).size).toBe(3)
    const [first, second] = databases
    const database = createDatabase({ url: first.url, poolSizeMax: 1, applicationName: 'test' })
    await database.prisma.user.create({
      data: { username: 'a', usernameKey: 'a', name: 'A', email: 'a@x.org', emailKey: 'a@x.org' },
    })
    await database.close()
    expect(await countUsers(first.url)).toBe(1)
    expect(await countUsers(second.url)).toBe(0)
  } finally {
    await Promise.all(databases.map((database) => database.close()))
  }
})

test('close drops the database even while a connection is open', async () => {
  const { url, close } = await createTestDatabase()
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  await close()
  await expect(countUsers(url)).rejects.toThrow(/does not exist/)
  await client.end().catch(() => {})
})

test('without a server the error names the command that starts one', async () => {
  const url = process.env.SWITCHYARD_TEST_DATABASE_URL
  delete process.env.SWITCHYARD_TEST_DATABASE_URL
  try {
    await expect(createTestDatabase()).rejects.toThrow(/npm test/)
  } finally {
    process.env.SWITCHYARD_TEST_DATABASE_URL = url
  }
})
