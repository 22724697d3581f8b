import { expect, it } from 'vitest'
import { redisServices, redisUserLine } from './access.js'

it('the users of ops/deploy/redis are those of the table; `vitest -u` writes them', async () => {
  const lines = redisServices.map((service) => `${redisUserLine(service)}\n`)
  await expect(lines.join('')).toMatchFileSnapshot('../../../../ops/deploy/redis/users.acl')
})
