import { isAbsolute } from 'node:path'
import { databaseUrl, httpServiceFields, integer, redisUrl, Secret } from '@switchyard/service-kit/config'
import { webhookSecretFields, webhookTargetFields } from '@switchyard/webhooks'
import { z } from 'zod'

const absolutePath = () => z.string('must be an absolute path').refine(isAbsolute, 'must be an absolute path')

const rootToken = () =>
  z
    .string()
    .regex(/^[\w.~+/=-]{20,255}$/, 'must be 20 to 255 characters of letters, digits and _ . ~ + / = -')
    .transform((value) => new Secret(value))

export const configSchema = z.object({
  ...httpServiceFields,
  DATABASE_URL: databaseUrl(),
  /** Connections to PostgreSQL. Unset: 10. */
  DATABASE_POOL_SIZE_MAX: integer(1, 1000).default(10),
  REDIS_URL: redisUrl(),
  /** The folder of all bare repositories; created when missing. */
  SWITCHYARD_STORAGE_ROOT: absolutePath(),
  /** Memory for cached answers about commits; 0: no cache. Unset: 128 MB. */
  GIT_CACHE_BYTES_MAX: integer(0, 2 ** 40).default(128 * 1024 * 1024),
  /** Memory of one git process that compares commits or reads objects; packs do not count. Unset: 1 GiB. */
  GIT_PROCESS_BYTES_MAX: integer(32 * 1024 * 1024, 2 ** 40).default(1024 ** 3),
  /** Simultaneous fetches and pushes of one user (without a token: of one address). Unset: 20. */
  GIT_SESSIONS_PER_USER_MAX: integer(1, 10_000).default(20),
  /** A fetch or push ends when its client neither sends nor reads for this time. Unset: 5 minutes. */
  GIT_IDLE_TIMEOUT_MS: integer(100, 24 * 3_600_000).default(300_000),
  /** Size of the largest object of Git LFS. Unset: 5 GiB. */
  LFS_OBJECT_BYTES_MAX: integer(1, 2 ** 50).default(5 * 1024 ** 3),
  /** Simultaneous transfers of LFS objects of one user; git-lfs uses 8 for one push or clone. Unset: 32. */
  LFS_TRANSFERS_PER_USER_MAX: integer(8, 10_000).default(32),
  /** A session of a browser ends when it is not used for this time. Unset: 12 hours. */
  SESSION_IDLE_SECONDS_MAX: integer(120, 366 * 86_400).default(12 * 3600),
  /** A session of a browser ends after this time at the latest. Unset: 7 days. */
  SESSION_LIFETIME_SECONDS_MAX: integer(120, 366 * 86_400).default(7 * 86_400),
  /** Token of the administrator `root`. Unset: a random token, if there is a file for it. */
  SWITCHYARD_ROOT_TOKEN: rootToken().optional(),
  /** The file for the administrator's token (mode 0600). Unset: none. */
  SWITCHYARD_ROOT_TOKEN_FILE: absolutePath().optional(),
  ...webhookTargetFields,
  ...webhookSecretFields,
})

export type Config = z.output<typeof configSchema>
