import { hash, timingSafeEqual } from 'node:crypto'
import { integer, type Secret, secretField } from '@switchyard/service-kit/config'
import { z } from 'zod'

export const defaultStorage = 'default'

const namePattern = /^[a-z0-9][a-z0-9-]{0,62}$/

const storageName = () =>
  z.string().regex(namePattern, 'must be lower-case letters, digits and hyphens, 63 at most')

const httpUrl = /^https?:\/\/[^\s,/?#@]+$/

/** `name=http://host:port`, separated by commas. */
const addresses = () =>
  z
    .string()
    .transform((text) => new Map(text.split(',').map((entry) => splitAt(entry.trim(), entry.indexOf('=')))))
    .refine(
      (storages) => [...storages].every(([name, url]) => namePattern.test(name) && httpUrl.test(url)),
      'must be storages such as second=http://git-api-second:8080, separated by commas, each without a path',
    )

const splitAt = (entry: string, at: number) => [entry.slice(0, at), entry.slice(at + 1)] as const

export const storageFields = {
  SWITCHYARD_STORAGE: storageName()
    .default(defaultStorage)
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
    .describe('Time for which the repository of a project that was moved stays in its former storage, too'),
}

type StorageConfig = z.output<z.ZodObject<typeof storageFields>>

/** The storages of this installation. */
export interface Storages {
  /** Name of the storage of this process. */
  own: string
  /** Base URL of git-api for each other storage, by the name of the storage. */
  others: ReadonlyMap<string, string>
  /** Name of the storage of new projects. */
  ofNewProjects: string
  /** How long the former copy of a moved repository is kept. */
  graceMs: number
  /** The header that proves to the git-api of other storages that this one asks; null without other storages. */
  header: { name: string; value: string } | null
  /** Whether a header value is the secret of the storages. */
  isSecret: (value: string | undefined) => boolean
}

export const secretHeader = 'X-Switchyard-Storages-Secret'

/** @throws Error when the settings do not fit together */
export function storagesOf(config: StorageConfig): Storages {
  const own = config.SWITCHYARD_STORAGE
  const others = new Map(config.SWITCHYARD_STORAGES)
  others.delete(own)
  const secret = config.SWITCHYARD_STORAGES_SECRET
  const ofNewProjects = config.SWITCHYARD_NEW_PROJECTS_STORAGE ?? own
  if (others.size > 0 && !secret) throw new Error('SWITCHYARD_STORAGES needs SWITCHYARD_STORAGES_SECRET')
  if (ofNewProjects !== own && !others.has(ofNewProjects)) {
    throw new Error('SWITCHYARD_NEW_PROJECTS_STORAGE is not one of SWITCHYARD_STORAGES')
  }
  return {
    own,
    others,
    ofNewProjects,
    graceMs: config.STORAGE_MOVE_GRACE_SECONDS * 1000,
    header: secret && others.size > 0 ? { name: secretHeader, value: secret.reveal() } : null,
    isSecret: (value) => others.size > 0 && isEqual(value, secret),
  }
}

const isEqual = (value: string | undefined, secret: Secret | undefined) =>
  value !== undefined &&
  secret !== undefined &&
  timingSafeEqual(hash('sha256', value, 'buffer'), hash('sha256', secret.reveal(), 'buffer'))
