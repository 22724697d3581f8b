import { markSecret, Secret } from '@switchyard/config'
import { z } from 'zod'

const addressText = 'must be host:port'

const address = z
  .string()
  .regex(/^(\[[^\]]+\]|[^:\s]+):\d{1,5}$/, addressText)
  .transform((text) => {
    const colon = text.lastIndexOf(':')
    return { host: text.slice(0, colon).replace(/^\[|\]$/g, ''), port: Number(text.slice(colon + 1)) }
  })

export type Address = z.output<typeof address>

const secretText = z.string().transform((text) => new Secret(text))

const url = z
  .string()
  .refine(
    (text) => URL.canParse(text) && ['redis:', 'rediss:', 'unix:'].includes(new URL(text).protocol),
    'must be redis://, rediss:// or unix://',
  )
  .transform((text) => new Secret(text))

const tlsFiles = z.strictObject({
  /** Path of a PEM file, as are the following ones. */
  ca: z.string().optional(),
  cert: z.string().optional(),
  key: z.string().optional(),
  /** Name in the server's certificate, if it is not the host name. */
  servername: z.string().optional(),
})

export type TlsFiles = z.output<typeof tlsFiles>

const connection = {
  /** Name in answers and metrics. */
  name: z.string().regex(/^[\w.-]{1,64}$/, 'must be 1 to 64 letters, digits, dots, dashes or underscores'),
  /**
   * Unset: REDIS_URL, unless servers are listed. With listed servers, the URL provides only user, password,
   * database and TLS.
   */
  url: url.optional(),
  /** Overrides the user in the URL. */
  username: z.string().optional(),
  password: secretText.optional(),
  tls: tlsFiles.optional(),
  cluster: z.array(address).min(1).optional(),
  sentinel: z
    .strictObject({
      nodes: z.array(address).min(1),
      master: z.string().min(1),
      username: z.string().optional(),
      password: secretText.optional(),
    })
    .optional(),
}

const bullmqSource = z.strictObject({
  kind: z.literal('bullmq'),
  ...connection,
  /** The first part of the queues' keys. */
  prefix: z.string().min(1).default('bull'),
  /** Queues to show in addition to discovered ones. */
  queues: z
    .array(z.string().regex(/^[^:]+$/, 'must be names without a colon'))
    .max(5000)
    .default([]),
  /**
   * Whether to find queues and workers without a heartbeat: by connections, and by a search through all keys
   * every ten minutes.
   */
  discover: z.boolean().default(true),
})

const sidekiqSource = z.strictObject({
  kind: z.literal('sidekiq'),
  ...connection,
  /** The namespace of redis-namespace, without its final colon. */
  namespace: z.string().min(1).optional(),
})

const source = z
  .discriminatedUnion('kind', [bullmqSource, sidekiqSource], 'kind must be bullmq or sidekiq')
  .refine(({ cluster, sentinel }) => !(cluster && sentinel), 'must have cluster or sentinel, not both')

const sources = z
  .array(source)
  .min(1)
  .refine((list) => new Set(list.map(({ name }) => name)).size === list.length, 'names must differ')

export type SourceConfig = z.output<typeof source>
export type BullmqSourceConfig = z.output<typeof bullmqSource>
export type SidekiqSourceConfig = z.output<typeof sidekiqSource>
/** The connection of a source, with its URL resolved. */
export type SourceConnection = Omit<SourceConfig, 'url'> & { url: Secret }

/**
 * Sources as JSON, which is a secret as a whole because it may contain passwords. The error names every
 * problem.
 */
export const jobSources = () =>
  markSecret(
    z.string().transform((text, context) => {
      const list = jsonOf(text)
      if (list === undefined) {
        context.addIssue('must be a JSON list of sources: this is no JSON')
        return z.NEVER
      }
      const parsed = sources.safeParse(list)
      if (parsed.success) return parsed.data
      const problems = parsed.error.issues.map(({ path, message }) => [...path, message].join(' '))
      context.addIssue(`must be a JSON list of sources: ${[...new Set(problems)].join('; ')}`)
      return z.NEVER
    }),
  )

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
