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
  /** Folder below which the bare repositories lie; created when missing. */
  SWITCHYARD_STORAGE_ROOT: absolutePath(),
  /** Memory for answers of git that cannot change; 0: none are kept. Unset: 128 MB. */
  GIT_CACHE_BYTES_MAX: integer(0, 2 ** 40).default(128 * 1024 * 1024),
  /** Memory of one git process that compares commits or reads objects; packs do not count. Unset: 1 GiB. */
  GIT_PROCESS_BYTES_MAX: integer(32 * 1024 * 1024, 2 ** 40).default(1024 ** 3),
  /** Fetches and pushes over HTTP of one user (of one address without a token) at once. Unset: 20. */
  GIT_SESSIONS_PER_USER_MAX: integer(1, 10_000).default(20),
  /** Time after which a fetch or push whose client neither sends nor takes anything is ended. Unset: 5 minutes. */
  GIT_IDLE_TIMEOUT_MS: integer(100, 24 * 3_600_000).default(300_000),
  /** Token of the administrator `root`. Unset: a random one, when there is a file to keep it in. */
  SWITCHYARD_ROOT_TOKEN: rootToken().optional(),
  /** Where the administrator's token is written (mode 0600). Unset: nowhere. */
  SWITCHYARD_ROOT_TOKEN_FILE: absolutePath().optional(),
  ...webhookTargetFields,
  ...webhookSecretFields,
})

export type Config = z.output<typeof configSchema>
