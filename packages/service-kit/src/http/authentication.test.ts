import type { Caller } from '@switchyard/domain/access'
import { expect, it } from 'vitest'
import { createAuthenticator } from './authentication.js'

const callerWith = (id: number): Caller => ({
  user: { id, username: 'ada', name: 'Ada', email: 'ada@example.com', admin: false, state: 'active' },
  token: { id, scopes: ['api'] },
})

it('looks up a token once when several requests carry it at the same time, and remembers the answer', async () => {
  let asked = 0
  const { authenticate } = createAuthenticator(async () => {
    asked += 1
    return callerWith(1)
  })
  const found = await Promise.all([authenticate('a'), authenticate('a'), authenticate('a')])
  expect(found).toEqual([callerWith(1), callerWith(1), callerWith(1)])
  await authenticate('a')
  expect(asked).toBe(1)
})

it('refuses a revoked token at once, and still remembers the tokens of other users', async () => {
  let isRevoked = false
  let asked = 0
  const { authenticate, forgetUsers } = createAuthenticator(async () => {
    asked += 1
    return isRevoked ? null : callerWith(asked)
  })
  await authenticate('of user 1')
  await authenticate('of user 2')
  isRevoked = true
  forgetUsers([1])
  expect(await authenticate('of user 1')).toBe(null)
  expect(await authenticate('of user 2')).toEqual(callerWith(2))
})

it('ignores the answer of a look-up that began before the revocation and ended after it', async () => {
  const answers: ((caller: Caller | null) => void)[] = []
  const { authenticate, forgetUsers } = createAuthenticator(
    () => new Promise((resolve) => answers.push(resolve)),
  )
  const before = authenticate('a')
  forgetUsers([1])
  const after = authenticate('a')
  answers[0]?.(callerWith(1))
  await expect.poll(() => answers.length).toBe(2)
  answers[1]?.(null)
  expect(await Promise.all([before, after])).toEqual([null, null])
})

it('answers every request while more tokens are looked up than are remembered', {
  timeout: 60_000,
}, async () => {
  const { authenticate } = createAuthenticator(async () => {
    await new Promise((resolve) => setTimeout(resolve, 50))
    return callerWith(1)
  })
  const found = await Promise.all(Array.from({ length: 11_000 }, (_each, index) => authenticate(`${index}`)))
  expect(found.every((caller) => caller?.user.id === 1)).toBe(true)
})
