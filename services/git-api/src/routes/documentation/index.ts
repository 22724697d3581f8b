import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { openApiFile } from '@switchyard/contracts/openapi'
import { anyone, type Route, route } from '@switchyard/service-kit/http'
import { z } from 'zod'
import { page, pageScript } from './page.js'
import { sendPublic } from './send-public.js'

const require = createRequire(import.meta.url)
const viewerFolder = dirname(require.resolve('swagger-ui-dist/package.json'))

const viewer = (file: string) => readFile(join(viewerFolder, file))

const document = {
  summary: 'This document',
  replies: { 200: z.looseObject({ openapi: z.string(), paths: z.record(z.string(), z.unknown()) }) },
  ...sendPublic('application/json', () => readFile(openApiFile)),
}

/** The API of all services as OpenAPI, and a page for people that shows it without other servers. */
export const documentationRoutes = (): Route[] => [
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
