import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { openApiFile } from '@switchyard/contracts/openapi'
import {
  administrator,
  answered,
  anyone,
  endpoint,
  ok,
  type Route,
  route,
  timeText,
} from '@switchyard/service-kit/http'
import { remembered } from '@switchyard/service-kit/remembered'
import { z } from 'zod'
import { userReader } from '../guards.js'
import type { Build, SystemState } from './system.js'

export interface SystemDependencies {
  readSystemState: () => Promise<SystemState>
  build: Build
}

export const systemRoutes = ({ readSystemState, build }: SystemDependencies): Route[] => [
  route('GET', '/version', userReader, getVersion(build)),
  route('GET', '/metadata', userReader, getMetadata(build)),
  route('GET', '/system', administrator, getSystem(readSystemState)),
  ...documentationRoutes(),
]

const bytes = () => z.number().int().nonnegative()

const tableShape = z.object({ name: z.string(), size_bytes: bytes(), rows_estimate: z.int() })

const auditExportShape = z.object({
  destination: z.enum(['syslog', 'http', 'otlp']),
  exported_at: timeText().nullable().meta({
    description: 'The time at which the destination received its last entry; null: it has received none',
  }),
  checked_at: timeText().meta({ description: 'The time at which a worker last looked for new entries' }),
  waiting_since: timeText()
    .nullable()
    .meta({ description: 'The time of the oldest entry that is not sent yet; null: all entries are sent' }),
  failing_since: timeText().nullable(),
  last_error: z.string().nullable(),
})

const systemShape = z
  .object({
    version: z.string().meta({ description: 'Version of Switchyard' }),
    revision: z.string().meta({ description: 'The commit that git-api was built from, or `unknown`' }),
    revision_at: timeText().nullable().meta({ description: 'The time of the commit' }),
    node_version: z.string(),
    git_version: z.string().nullable(),
    started_at: timeText().meta({ description: 'The start time of the git-api process that responds' }),
    uptime_seconds: z.int(),
    checked_at: timeText(),
    database: z
      .object({
        version: z.string(),
        size_bytes: bytes(),
        connections: z.int(),
        connections_max: z.int(),
        users: z.int(),
        projects: z.int(),
        tables: z.array(tableShape).meta({ description: 'The ten largest, with partitions and indexes' }),
      })
      .nullable(),
    redis: z.object({ version: z.string(), used_memory_bytes: bytes() }).nullable(),
    storage: z
      .object({ total_bytes: bytes(), free_bytes: bytes() })
      .nullable()
      .meta({ description: 'The file system of the repositories' }),
    audit_exports: z
      .array(auditExportShape)
      .nullable()
      .meta({ description: 'The destinations to which the worker sends the audit log' }),
  })
  .meta({
    id: 'System',
    description: 'The components of an installation; a part is null when it does not answer in time',
  })

export function presentSystem({
  database,
  redis,
  storage,
  auditExports,
  ...state
}: SystemState): z.output<typeof systemShape> {
  return {
    version: state.version,
    revision: state.build.revision,
    revision_at: state.build.time ? new Date(state.build.time).toISOString() : null,
    node_version: process.versions.node,
    git_version: state.gitVersion,
    started_at: state.startedAt.toISOString(),
    uptime_seconds: Math.floor((state.at.getTime() - state.startedAt.getTime()) / 1000),
    checked_at: state.at.toISOString(),
    database: database && {
      version: database.version,
      size_bytes: database.sizeBytes,
      connections: database.connections,
      connections_max: database.connectionsMax,
      users: database.users,
      projects: database.projects,
      tables: database.tables.map(({ name, sizeBytes, rowsEstimate }) => ({
        name,
        size_bytes: sizeBytes,
        rows_estimate: rowsEstimate,
      })),
    },
    redis: redis && { version: redis.version, used_memory_bytes: redis.usedMemoryBytes },
    storage: storage && { total_bytes: storage.totalBytes, free_bytes: storage.freeBytes },
    audit_exports:
      auditExports?.map((each) => ({
        destination: each.destination as z.output<typeof auditExportShape>['destination'],
        exported_at: each.exportedAt?.toISOString() ?? null,
        checked_at: each.checkedAt.toISOString(),
        waiting_since: each.waitingSince?.toISOString() ?? null,
        failing_since: each.failingSince?.toISOString() ?? null,
        last_error: each.lastError,
      })) ?? null,
  }
}

const getSystem = (readSystemState: SystemDependencies['readSystemState']) =>
  endpoint({
    summary: 'Get the versions, sizes and free space of the installation',
    replies: { 200: systemShape },
    input: z.object({}),
    handle: async () => ok(presentSystem(await readSystemState())),
  })

/** The GitLab release whose API this service implements. Clients choose their features by it. */
const apiVersion = '18.9.0'

const getVersion = ({ revision }: Build) =>
  endpoint({
    summary: 'Get the GitLab version whose API this server implements, and the commit that it was built from',
    replies: { 200: z.object(versionShape) },
    input: z.object({}),
    handle: async () => ok(presentVersion(revision)),
  })

const versionShape = { version: z.string(), revision: z.string(), enterprise: z.boolean() }

const presentVersion = (revision: string) => ({
  version: `${apiVersion}-switchyard`,
  revision: revision.slice(0, 11),
  enterprise: false,
})

const agentServerShape = z
  .object({
    enabled: z.literal(false),
    externalUrl: z.null(),
    externalK8sProxyUrl: z.null(),
    version: z.null(),
  })
  .meta({ description: 'The server of the agents for Kubernetes, which Switchyard does not have' })

const getMetadata = ({ revision }: Build) =>
  endpoint({
    summary: 'Get the version and the supported parts of GitLab',
    replies: { 200: z.object({ ...versionShape, kas: agentServerShape }) },
    input: z.object({}),
    handle: async () =>
      ok({
        ...presentVersion(revision),
        kas: { enabled: false, externalUrl: null, externalK8sProxyUrl: null, version: null },
      }),
  })

/** The viewer needs inline styles. The page loads from and sends to this server only. */
const contentSecurityPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/**
 * Sends a file that is the same for every caller, with an ETag.
 *
 * @param read called at the first request, and again after a failure
 */
const sendPublic = (type: string, read: () => Promise<Buffer | string>) => {
  const content = remembered(read)
  return endpoint({
    input: z.object({}),
    async handle(_input, _caller, { raw: { response } }) {
      const body = await content()
      response.set({
        'Cache-Control': 'public, max-age=0, must-revalidate',
        'Content-Security-Policy': contentSecurityPolicy,
      })
      // `response.type` would add a charset to JSON, but some clients compare the whole content type.
      response.setHeader('Content-Type', type)
      response.send(Buffer.from(body))
      return answered
    },
  })
}

/** The page that shows the API. */
const page = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Switchyard API</title>
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="/api/v4/docs/swagger-ui.css">
  </head>
  <body>
    <div id="api"></div>
    <noscript>This page needs scripts; the API as OpenAPI 3.1 is at <a href="/api/v4/openapi.json">/api/v4/openapi.json</a>.</noscript>
    <script src="/api/v4/docs/swagger-ui-bundle.js"></script>
    <script src="/api/v4/docs/start.js"></script>
  </body>
</html>
`

/** The script is a separate file because the content security policy of the page forbids inline scripts. */
const pageScript = `SwaggerUIBundle({
  url: '/api/v4/openapi.json',
  dom_id: '#api',
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  filter: true,
  validatorUrl: null,
})
`

const require = createRequire(import.meta.url)
const viewerFolder = dirname(require.resolve('swagger-ui-dist/package.json'))

const viewer = (file: string) => readFile(join(viewerFolder, file))

const document = {
  summary: 'Get the OpenAPI document of this API',
  replies: { 200: z.looseObject({ openapi: z.string(), paths: z.record(z.string(), z.unknown()) }) },
  ...sendPublic('application/json', () => readFile(openApiFile)),
}

/** The API of all services as OpenAPI, and a page for people that displays it without other servers. */
const documentationRoutes = (): Route[] => [
  route('GET', '/openapi.json', anyone, document),
  ...Object.entries({
    '/api/v4/docs': sendPublic('text/html; charset=utf-8', async () => page),
    '/api/v4/docs/start.js': sendPublic('text/javascript; charset=utf-8', async () => pageScript),
    '/api/v4/docs/swagger-ui-bundle.js': sendPublic('text/javascript; charset=utf-8', () =>
      viewer('swagger-ui-bundle.js'),
    ),
    '/api/v4/docs/swagger-ui.css': sendPublic('text/css; charset=utf-8', () => viewer('swagger-ui.css')),
  }).map(([path, endpoint]) => route('GET', path, anyone, endpoint, { outsideApi: true })),
]
