import { expect, it } from 'vitest'
import { redisUserLines } from './access.js'

it('the users of ops/deploy/redis are those of the table; `vitest -u` writes them', async () => {
  const lines = redisUserLines.map((line) => `${line}\n`)
  await expect(lines.join('')).toMatchFileSnapshot('../../../../ops/deploy/redis/users.acl')
})
