import { endpoint, ok, type Route, route, text } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../dependencies.js'
import type { ProjectCall } from '../guards.js'
import { openRawBlob, readBlob } from '../use-cases/blobs.js'
import { rawTypes, sendRaw } from './files/send-raw.js'

export function blobRoutes(deps: Dependencies): Route[] {
  const { readCode } = deps.guards
  const blob = '/projects/:id/repository/blobs/:sha'
  return [
    route('GET', blob, readCode, getBlob),
    route('GET', `${blob}/raw`, readCode, getRawBlob, { longLived: true }),
  ]
}

const blobShape = z
  .object({
    size: z.int().meta({ description: 'Bytes' }),
    encoding: z.literal('base64'),
    content: z.string().meta({ description: 'Base64' }),
    sha: z.string(),
  })
  .meta({ id: 'Blob', description: 'The content of a file, found by its id' })

const input = z.object({ sha: text().meta({ description: 'The full id of a blob' }) })

const getBlob = endpoint({
  summary: 'A blob and its content',
  replies: { 200: blobShape },
  refusals: [413],
  input,
  async handle({ sha }, access: ProjectCall) {
    const { blob, content } = await readBlob(access, sha)
    return ok({ size: blob.size, encoding: 'base64', content: content.toString('base64'), sha: blob.id })
  },
})

const getRawBlob = endpoint({
  summary: 'The bytes of a blob',
  replies: { 200: rawTypes, 206: rawTypes, 416: null },
  refusals: [429],
  input,
  async handle({ sha }, access: ProjectCall, call) {
    const content = await openRawBlob(access, sha)
    return sendRaw(content, { fileName: content.blob.id }, call)
  },
})
