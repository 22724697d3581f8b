import { type RedisService, redisUserLines, redisUserOf } from '@switchyard/contracts/redis'

export type { RedisService }

/**
 * The ACL file of a Redis on a socket that only its owner can reach. The folder of the socket excludes other
 * users, so no password is needed. The users of Redis limit each service to its rights.
 */
export const redisUsers: string = [
  'user default on nopass ~* &* +@all\n',
  ...redisUserLines.map((line) => `${line} on nopass\n`),
].join('')

/** Returns the URL of such a Redis for the user of a service. */
export const redisUrlOf = (url: string, service: RedisService): string =>
  `${url}?user=${redisUserOf(service)}`
