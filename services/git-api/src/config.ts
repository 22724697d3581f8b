import { isAbsolute } from 'node:path'
import { trustedIssuerFields } from '@switchyard/callers'
import { databaseUrl, httpServiceFields, integer, redisUrl, secretField } from '@switchyard/config'
import { nameAndValue } from '@switchyard/domain'
import { webhookSecretFields } from '@switchyard/webhooks'
import { z } from 'zod'
import { signInFields, signInProblems } from './sign-in-config.js'

const absolutePath = () => z.string('must be an absolute path').refine(isAbsolute, 'must be an absolute path')

const rootToken = () =>
  secretField(
    z
      .string()
      .regex(/^[\w.~+/=-]{20,255}$/, 'must be 20 to 255 characters of letters, digits and _ . ~ + / = -'),
  )

const namePattern = /^[a-z0-9][a-z0-9-]{0,62}$/

const storageName = () =>
  z.string().regex(namePattern, 'must be lower-case letters, digits and hyphens, 63 at most')

const httpUrl = /^https?:\/\/[^\s,/?#@]+$/

/** `name=http://host:port`, separated by commas. */
const addresses = () =>
  z
    .string()
    .transform((text) => new Map(text.split(',').map((entry) => nameAndValue(entry.trim()))))
    .refine(
      (storages) => [...storages].every(([name, url]) => namePattern.test(name) && httpUrl.test(url)),
      'must be storages such as second=http://git-api-second:8080, separated by commas, each without a path',
    )

const storageFields = {
  SWITCHYARD_STORAGE: storageName()
    .default('default')
    .describe(
      'Name of the [storage](scaling.md#storages-of-repositories) below `SWITCHYARD_STORAGE_ROOT`, which never changes',
    ),
  SWITCHYARD_STORAGES: addresses()
    .optional()
    .describe(
      'The git-api of every [storage](scaling.md#storages-of-repositories): `default=http://git-api:8080,second=http://git-api-second:8080`. Unset: there is one storage',
    ),
  SWITCHYARD_STORAGES_SECRET: secretField(
    z
      .string()
      .regex(/^[\w.~+/=-]{32,255}$/, 'must be 32 to 255 characters of letters, digits and _ . ~ + / = -'),
  )
    .optional()
    .describe('Secret by which the git-api of each storage recognize each other, 32 to 255 characters'),
  SWITCHYARD_NEW_PROJECTS_STORAGE: storageName()
    .optional()
    .describe('Storage of new projects. Unset: the one of the git-api that is asked'),
  STORAGE_MOVE_GRACE_SECONDS: integer(0, 366 * 86_400)
    .default(3600)
    .describe('Time for which a moved repository is also kept in its former storage'),
}

const fields = z.object({
  ...httpServiceFields,
  DATABASE_URL: databaseUrl().describe('`postgresql://user:password@host:port/database`'),
  DATABASE_POOL_SIZE_MAX: integer(1, 1000).default(10).describe('Connections to PostgreSQL'),
  REDIS_URL: redisUrl().describe(
    '`redis://host:port`, `rediss://…` (TLS), [`redis+sentinel://…`](scaling.md#redis) or `unix:///path`; background work goes there',
  ),
  SWITCHYARD_STORAGE_ROOT: absolutePath().describe(
    'Absolute path of the folder of the bare repositories. The images set `/var/lib/switchyard/repositories`',
  ),
  GIT_CACHE_BYTES_MAX: integer(0, 2 ** 40)
    .default(128 * 1024 * 1024)
    .describe('Memory for answers of git that cannot change. `0`: none are kept'),
  GIT_MEMORY_BYTES_MAX: integer(64 * 1024 * 1024, 2 ** 50)
    .optional()
    .describe(
      'Memory of all git processes together; [what does not fit waits](git.md#shares-of-git). Unset: a third of the memory that the process may use',
    ),
  GIT_PROCESS_BYTES_MAX: integer(32 * 1024 * 1024, 2 ** 40)
    .optional()
    .describe(
      'Most memory of one git process that compares commits or reads objects, without mapped packs; other git processes have 1 GiB. A commit that needs more has [no diff](commits.md#diffs). Unset: 128 MiB for each core, 256 MiB at least and 1 GiB at most',
    ),
  GIT_SESSIONS_MAX: integer(4, 10_000)
    .optional()
    .describe(
      'Clones, fetches, pushes and downloads of all users at once; a quarter is kept free for users that have at most one; [more wait](git.md#shares-of-git). Unset: 16 for each core, as far as half of `GIT_MEMORY_BYTES_MAX` has 64 MiB for each',
    ),
  GIT_SESSIONS_PER_USER_MAX: integer(1, 10_000)
    .optional()
    .describe(
      'Clones, fetches, pushes and downloads of one user (of one address without a token) at once; [more wait](git.md#shares-of-git). Unset: 2 for each core, 4 at least',
    ),
  GIT_IDLE_TIMEOUT_MS: integer(100, 24 * 3_600_000)
    .default(300_000)
    .describe('Time after which a fetch or push is ended whose client neither sends nor reads anything'),
  LFS_OBJECT_BYTES_MAX: integer(1, 2 ** 50)
    .default(5 * 1024 ** 3)
    .describe('Size of the largest object of [Git LFS](lfs.md)'),
  PACKAGE_FILE_BYTES_MAX: integer(1, 2 ** 50)
    .default(5 * 1024 ** 3)
    .describe('Size of the largest file of a [package](packages.md)'),
  UPLOAD_BYTES_MAX: integer(1, 2 ** 50)
    .default(1024 ** 3)
    .describe('Size of the largest file of a comment or a release, see [uploads](packages.md#uploads)'),
  PROJECT_STORAGE_BYTES_MAX: integer(0, 2 ** 50)
    .default(20 * 1024 ** 3)
    .describe(
      'Most bytes that the repository and the LFS objects of a project take, where the project has [no limit of its own](git.md#quotas). `0`: no limit. Projects of administrators have none',
    ),
  USER_STORAGE_BYTES_MAX: integer(0, 2 ** 50)
    .default(100 * 1024 ** 3)
    .describe(
      'Most bytes that [all projects of a user](git.md#quotas) take together. `0`: no limit. Administrators have none',
    ),
  STORAGE_FREE_BYTES_MIN: integer(0, 2 ** 50)
    .default(1024 ** 3)
    .describe(
      'Pushes, commits and uploads are refused when they would leave less of the [disk of the repositories](operations.md#a-full-disk) free, or less than a twentieth of a disk for which that is less. Reading goes on',
    ),
  LFS_TRANSFERS_PER_USER_MAX: integer(8, 10_000)
    .default(32)
    .describe(
      'Uploads and downloads of LFS objects of one user (of one address without a token) at once, at least 8, which one push or clone uses; [more wait](lfs.md#limits-and-errors)',
    ),
  SESSION_IDLE_SECONDS_MAX: integer(120, 366 * 86_400)
    .default(12 * 3600)
    .describe(
      'A [session](users-and-tokens.md#sessions-of-browsers) of a browser ends when it is not used for this time, at least 120',
    ),
  SESSION_LIFETIME_SECONDS_MAX: integer(120, 366 * 86_400)
    .default(7 * 86_400)
    .describe('A session of a browser ends after this time at the latest'),
  ...signInFields,
  USER_TOKEN_LIFETIME_DAYS_MAX: integer(1, 3650)
    .optional()
    .describe(
      'Longest life of the [tokens that users make for themselves](users-and-tokens.md#tokens-of-ones-own). Unset: they make none',
    ),
  DEVICE_TOKEN_LIFETIME_DAYS: integer(1, 3650)
    .optional()
    .describe(
      'Life of the tokens that users allow in the console to programs [such as `switchyard login`](users-and-tokens.md#signing-in-programs). Unset: they allow none',
    ),
  SWITCHYARD_ROOT_TOKEN: rootToken()
    .optional()
    .describe(
      'Token of the administrator `root`, 20 to 255 characters. Unset: a random one, when there is a file to keep it in (`SWITCHYARD_ROOT_TOKEN_KEPT_IN`)',
    ),
  SWITCHYARD_ROOT_TOKEN_KEPT_IN: absolutePath()
    .optional()
    .describe("File in which the administrator's token is kept, written with mode 0600. Unset: none"),
  SWITCHYARD_REVISION: z
    .string()
    .regex(/^[\w.-]{1,64}$/, 'must be the id of a commit')
    .default('unknown')
    .describe(
      'The commit that this was built from, which `GET /version` and `GET /system` show. The images and `npm start` set it',
    ),
  SWITCHYARD_REVISION_TIME: z.iso
    .datetime({ offset: true, error: 'must be a time such as 2026-01-31T12:00:00Z' })
    .optional()
    .describe('When that commit was made. The images and `npm start` set it'),
  ...storageFields,
  ...trustedIssuerFields,
  ...webhookSecretFields,
})

export const configSchema = fields.superRefine((config, context) => {
  for (const [variable, message] of signInProblems(config)) {
    context.addIssue({ code: 'custom', path: [variable], message })
  }
})

export type Config = z.output<typeof configSchema>
