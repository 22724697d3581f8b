import { addMember } from '@switchyard/testing'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Harness, json, startHarness } from './harness.js'

let harness: Harness
/** Who asks: beside the usual callers, members of every level below the owner. */
const secrets: Record<string, string> = {}

beforeAll(async () => {
  harness = await startHarness()
  for (const visibility of ['private', 'internal', 'public']) {
    const given = { path: visibility, visibility, initialize_with_readme: true }
    const response = await harness.send('owner', 'POST', '/projects', json(given))
    const { id } = (await response.json()) as { id: number }
    for (const level of [10, 20, 30]) {
      const username = `level-${level}`
      const user = await harness.database.prisma.user.upsert({
        where: { usernameKey: username },
        create: {
          username,
          usernameKey: username,
          name: username,
          email: `${username}@x`,
          emailKey: `${username}@x`,
        },
        update: {},
      })
      await addMember(harness.database, { id }, user, level)
      secrets[username] ??= await harness.secretOf(user)
    }
  }
})
afterAll(() => harness?.close())

const actions = {
  readCode: ['GET', 'repository/commits'],
  pushCode: ['POST', 'repository/commits'],
  readStatuses: ['GET', 'repository/commits/main/statuses'],
  writeStatuses: ['POST', 'statuses/0000000000000000000000000000000000000000'],
} as const

// 400: the guard let the call through, and its empty body was refused.

it.each([
  // action, visibility, then the status for: guest, stranger, guest member, reporter, developer, owner
  ['readCode', 'private', [404, 404, 403, 200, 200, 200]],
  ['readCode', 'internal', [404, 200, 200, 200, 200, 200]],
  ['readCode', 'public', [200, 200, 200, 200, 200, 200]],
  ['pushCode', 'private', [401, 404, 403, 403, 400, 400]],
  ['pushCode', 'internal', [401, 403, 403, 403, 400, 400]],
  ['pushCode', 'public', [401, 403, 403, 403, 400, 400]],
  ['readStatuses', 'private', [401, 404, 403, 200, 200, 200]],
  ['readStatuses', 'internal', [401, 200, 200, 200, 200, 200]],
  ['readStatuses', 'public', [401, 200, 200, 200, 200, 200]],
  ['writeStatuses', 'private', [401, 404, 403, 403, 400, 400]],
  ['writeStatuses', 'internal', [401, 403, 403, 403, 400, 400]],
  ['writeStatuses', 'public', [401, 403, 403, 403, 400, 400]],
] as const)('%s on a %s project', async (action, visibility, expected) => {
  const [method, suffix] = actions[action]
  const callers = ['guest', 'user', secrets['level-10'], secrets['level-20'], secrets['level-30'], 'owner']
  const statuses: number[] = []
  for (const who of callers) {
    const response = await harness.send(who ?? '', method, `/projects/Owner%2F${visibility}/${suffix}`)
    statuses.push(response.status)
  }
  expect(statuses).toEqual(expected)
})
