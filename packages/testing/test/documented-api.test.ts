import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openDocumentedApi } from '../src/index.js'

const thing = {
  type: 'object',
  properties: { at: { type: 'string', format: 'date-time' } },
  required: ['at'],
  additionalProperties: false,
}
const responses = {
  200: {
    headers: { 'X-Total': { required: true } },
    content: { 'application/json': { schema: { $ref: '#/components/schemas/Thing' } } },
  },
  404: { $ref: '#/components/responses/NotFound' },
}
const document = {
  servers: [{ url: '/api' }],
  paths: {
    '/things/{id}': { get: { parameters: [{ name: 'id', in: 'path' }], responses } },
    '/never': { get: { responses } },
  },
  components: {
    schemas: { Thing: thing },
    responses: { NotFound: { content: { 'application/json': { schema: { required: ['message'] } } } } },
  },
}

const good = { status: 200, type: 'application/json', total: true, body: '{"at":"2026-01-02T03:04:05.678Z"}' }
let answer = good
let server: Server
let api: Awaited<ReturnType<typeof openDocumentedApi>>

beforeAll(async () => {
  server = createServer(({ url }, response) => {
    if (url === '/-/openapi.json') return response.end(JSON.stringify(document))
    if (answer.total) response.setHeader('X-Total', '1')
    return response.writeHead(answer.status, { 'Content-Type': answer.type }).end(answer.body)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  api = await openDocumentedApi(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, 'token')
})
afterAll(() => server?.close())

const call = (given: Partial<typeof good>, query?: Record<string, string>) => {
  answer = { ...good, ...given }
  return api.call('GET /things/{id}', { path: { id: 1 }, query })
}

it('accepts an answer that matches the document, and lists operations that were never called', async () => {
  expect((await call({})).body).toEqual({ at: '2026-01-02T03:04:05.678Z' })
  expect((await call({ status: 404, body: '{"message":"none"}' })).status).toBe(404)
  expect(api.uncalled()).toEqual(['GET /never'])
})

it.each([
  ['a field is missing', { body: '{}' }, "required property 'at'"],
  ['a field is of another type', { body: '{"at":7}' }, 'must be string'],
  ['a time is no time', { body: '{"at":"yesterday"}' }, 'must match format'],
  ['a field is not documented', { body: '{"at":"2026-01-02T03:04:05.678Z","x":1}' }, 'additional properties'],
  ['a header is missing', { total: false }, 'headers are missing: X-Total'],
  ['the status is not documented', { status: 409 }, 'the status is not documented'],
  ['the media type is not documented', { type: 'text/plain' }, 'the media type text/plain'],
  ['a refusal has no text', { status: 404, body: '{}' }, "required property 'message'"],
])('refuses an answer when %s', async (_name, given, problem) => {
  await expect(call(given)).rejects.toThrow(problem)
})

it('refuses to call an undocumented operation', async () => {
  await expect(call({}, { nonsense: '1' })).rejects.toThrow('no documented nonsense')
  await expect(api.call('POST /things')).rejects.toThrow('POST /things is not documented')
})
