import { join, resolve } from 'node:path'
import { z } from 'zod'
import { SetupProblem } from '../problem.js'

const port = (fallback: number) =>
  z.coerce
    .number('must be a port number')
    .int()
    .min(1, 'must be a port')
    .max(65535, 'must be a port')
    .default(fallback)

const url = (example: string, ...schemes: string[]) =>
  z
    .string()
    .refine((value) => URL.canParse(value) && schemes.includes(new URL(value).protocol), `must be ${example}`)
    .optional()

const environment = z.object({
  HOST: z.string().default('127.0.0.1'),
  PORT: port(8080),
  GRPC_PORT: port(50051),
  EXTERNAL_URL: url('a URL such as http://localhost:8080', 'http:', 'https:'),
  DATABASE_URL: url('postgresql://user:password@host:port/database', 'postgresql:', 'postgres:'),
  REDIS_URL: url('redis://host:port, rediss://host:port or unix:///path', 'redis:', 'rediss:', 'unix:'),
  SWITCHYARD_DATA: z.string().default('.switchyard'),
  SWITCHYARD_TOOLS: z.string().optional(),
})

/** The settings of `npm start`. */
export interface Settings {
  /** The folder of the checkout. */
  root: string
  /** Address on which both ports listen. */
  host: string
  port: number
  grpcPort: number
  externalUrl: string
  /** Set when an external server replaces the embedded PostgreSQL or Redis. */
  databaseUrl?: string
  redisUrl?: string
  dataDir: string
  /** Folder of the programs that are installed with apt. */
  toolsDir: string
  watch: boolean
}

/** Reads the environment. The error for invalid values names the variables, never the values. */
export function readSettings(root: string, env: NodeJS.ProcessEnv, watch: boolean): Settings {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''))
  const parsed = environment.safeParse(given)
  if (!parsed.success) {
    const problems = parsed.error.issues.map((issue) => `${issue.path.join('.')} ${issue.message}`)
    throw new SetupProblem(problems.join('; '))
  }
  const { data } = parsed
  const dataDir = resolve(root, data.SWITCHYARD_DATA)
  return {
    root,
    host: data.HOST,
    port: data.PORT,
    grpcPort: data.GRPC_PORT,
    externalUrl: data.EXTERNAL_URL ?? `http://localhost:${data.PORT}`,
    databaseUrl: data.DATABASE_URL,
    redisUrl: data.REDIS_URL,
    dataDir,
    toolsDir: resolve(root, data.SWITCHYARD_TOOLS ?? join(dataDir, 'tools')),
    watch,
  }
}
