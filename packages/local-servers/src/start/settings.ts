import { resolve } from 'node:path'
import {
  baseUrl,
  databaseUrl,
  proxyNetworks,
  readSecretFiles,
  redisUrl,
  secretField,
  type TrustsProxy,
  trustsNobody,
} from '@switchyard/config'
import { SolvableProblem } from '@switchyard/terminal'
import { z } from 'zod'
import { toolsFolder } from '../tools/tools-folder.js'

const isPort = (text: string) => /^\d{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= 65535

const port = (fallback: number) =>
  z
    .string()
    .refine(isPort, {
      error: ({ input }) => `is ${JSON.stringify(input)}; it must be a port from 1 to 65535`,
    })
    .transform(Number)
    .default(fallback)

/** The variables that `npm start` itself reads. Services receive other variables unchanged. */
export const settingsSchema = z.object({
  HOST: z.string().default('127.0.0.1').describe('Address of both ports'),
  PORT: port(8080).describe('HTTP port of the installation'),
  GRPC_PORT: port(50051).describe('gRPC port'),
  TRUSTED_PROXIES: proxyNetworks()
    .optional()
    .describe(
      'Addresses and networks of your proxies in front of the HTTP port, separated by commas. They alone are believed about the addresses of clients. The gateway of Compose and Kubernetes takes it, too',
    ),
  SWITCHYARD_DATA: z
    .string()
    .default('.switchyard')
    .describe("Folder of all data, logs and the administrator's token"),
  SWITCHYARD_TOOLS: z
    .string()
    .optional()
    .describe(
      'Where programs that are fetched (Node, Redis, nginx) are kept. Unset: `switchyard/tools` in `XDG_CACHE_HOME`, or in `~/.cache`',
    ),
  EXTERNAL_URL: baseUrl('http://localhost:8080')
    .optional()
    .describe("Base of links in answers. Unset: the HTTP port's own"),
  DATABASE_URL: databaseUrl()
    .optional()
    .describe('Your PostgreSQL instead of the embedded one, for all services; no roles are made'),
  REDIS_URL: redisUrl().optional().describe('Your Redis instead of the embedded one'),
  SWITCHYARD_ROOT_TOKEN: secretField(z.string())
    .optional()
    .describe('Token of the administrator `root`. Unset: a random one'),
  WEBHOOK_SECRET_KEYS: secretField(z.string())
    .optional()
    .describe(
      'As for git-api. Unset: a key that is made once and kept in the folder of `SWITCHYARD_DATA`, mode 0600',
    ),
})

/** The content of `release.json` of an installed release. */
export interface ReleaseInfo {
  version: string
  /** The commit of the release, and its time. */
  revision: string
  committed_at: string
}

/** The settings of `npm start`. */
export interface Settings {
  /** The folder of the checkout or of the release. */
  root: string
  release?: ReleaseInfo
  /** Address on which both ports listen. */
  host: string
  port: number
  grpcPort: number
  externalUrl: string
  /** Selects the proxies that are trusted about the addresses of their clients. */
  trustsProxy: TrustsProxy
  /** Set when an external server replaces the embedded PostgreSQL or Redis. */
  databaseUrl?: string
  redisUrl?: string
  rootToken?: string
  webhookSecretKeys?: string
  /** The environment that the services inherit, without the secrets above. */
  inherited: NodeJS.ProcessEnv
  dataDir: string
  /** Folder of the programs that are installed with apt. */
  toolsDir: string
  watch: boolean
}

const secretNames = ['DATABASE_URL', 'REDIS_URL', 'SWITCHYARD_ROOT_TOKEN', 'WEBHOOK_SECRET_KEYS'] as const

/** Reads the environment. The error for invalid values names the variables, never the values. */
export function readSettings(
  root: string,
  env: NodeJS.ProcessEnv,
  watch: boolean,
  release?: ReleaseInfo,
): Settings {
  const secrets = readSecretFiles(secretNames, env)
  const given = Object.fromEntries(Object.entries(secrets.env).filter(([, value]) => value !== ''))
  const parsed = settingsSchema.safeParse(given)
  const misfits = (parsed.error?.issues ?? []).map((issue) => `${issue.path.join('.')} ${issue.message}`)
  const problems = [...secrets.problems.values(), ...misfits]
  if (!parsed.success || problems.length > 0) throw new SolvableProblem(problems.join('; '))
  const { data } = parsed
  const dataDir = resolve(root, data.SWITCHYARD_DATA)
  return {
    root,
    release,
    host: data.HOST,
    port: data.PORT,
    grpcPort: data.GRPC_PORT,
    externalUrl: data.EXTERNAL_URL ?? `http://localhost:${data.PORT}`,
    trustsProxy: data.TRUSTED_PROXIES ?? trustsNobody,
    databaseUrl: data.DATABASE_URL?.reveal(),
    redisUrl: data.REDIS_URL?.reveal(),
    rootToken: data.SWITCHYARD_ROOT_TOKEN?.reveal(),
    webhookSecretKeys: data.WEBHOOK_SECRET_KEYS?.reveal(),
    inherited: omit(secrets.env, secretNames),
    dataDir,
    toolsDir: toolsFolder(root, given),
    watch,
  }
}

const omit = (env: NodeJS.ProcessEnv, names: readonly string[]): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !names.includes(name)))
