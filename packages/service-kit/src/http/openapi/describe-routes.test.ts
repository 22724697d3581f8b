import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { endpoint, ok, route } from '../endpoint.js'
import { administrator, anyone } from '../guards.js'
import { pageParameters } from '../pagination.js'
import { flag, rowId, text, time } from '../parameters.js'
import { describeRoutes } from './describe-routes.js'

const shape = z.object({ id: z.int(), at: z.date().nullable() }).meta({ id: 'Thing' })
const handle = async () => ok({})

const list = endpoint({
  summary: 'Things',
  replies: { 200: z.array(shape) },
  input: z.object({ ...pageParameters, since: time().optional(), all: flag().default(false) }),
  handle,
})
const create = endpoint({
  summary: 'Make a thing',
  replies: { 201: shape },
  refusals: [409],
  input: z.object({ id: rowId(), name: text().meta({ description: 'What it is called' }) }),
  handle,
})
const follow = endpoint({
  summary: 'Follow things',
  replies: { 200: ['text/event-stream'] },
  input: z.object({}),
  handle,
})

const { paths, components } = describeRoutes([
  route('GET', '/projects/:id/things', administrator, list),
  route('POST', '/projects/:id/things', administrator, create),
  route('GET', '/things/stream', anyone, follow),
  route('GET', '/outside', anyone, follow, { outsideApi: true }),
])

describe('an OpenAPI document', () => {
  it('has the routes within the API', () => {
    expect(Object.keys(paths)).toEqual(['/projects/{id}/things', '/things/stream'])
  })

  it('describes parameters in the form in which clients send them', () => {
    expect(paths['/projects/{id}/things']?.get).toMatchObject({
      operationId: 'getProjectsByIdThings',
      tags: ['things'],
      description: 'For administrators.',
      parameters: [
        { name: 'id', in: 'path', required: true, schema: { type: 'string', maxLength: 4096 } },
        { name: 'page', in: 'query', required: false, schema: { type: 'integer', default: 1 } },
        { name: 'per_page', schema: { type: 'integer', default: 20 } },
        { name: 'since', schema: { type: 'string', format: 'date-time' } },
        { name: 'all', schema: { type: 'boolean', default: false } },
      ],
    })
  })

  it('has the headers of pages, and named shapes once', () => {
    expect(paths['/projects/{id}/things']?.get?.responses).toMatchObject({
      200: {
        headers: { 'X-Total': { $ref: '#/components/headers/X-Total' } },
        content: {
          'application/json': { schema: { type: 'array', items: { $ref: '#/components/schemas/Thing' } } },
        },
      },
    })
    expect(components.schemas?.Thing).toMatchObject({
      properties: { at: { anyOf: [{ type: 'string', format: 'date-time' }, { type: 'null' }] } },
      required: ['id', 'at'],
      additionalProperties: false,
    })
  })

  it('accepts a body in three forms, without the parameters of the path', () => {
    const operation = paths['/projects/{id}/things']?.post as { requestBody: { content: object } }
    expect(Object.keys(operation.requestBody.content)).toEqual([
      'application/json',
      'application/x-www-form-urlencoded',
      'multipart/form-data',
    ])
    expect(components.schemas?.PostProjectsByIdThingsBody).toEqual({
      type: 'object',
      properties: { name: { description: 'What it is called', type: 'string', maxLength: 4096 } },
      required: ['name'],
    })
  })

  it('lists the refusals of guard, path and body, and those that the endpoint adds', () => {
    const statusesOf = (operation: unknown) => Object.keys((operation as { responses: object }).responses)
    expect(statusesOf(paths['/projects/{id}/things']?.post)).toEqual([
      '201',
      '400',
      '401',
      '403',
      '404',
      '408',
      '409',
      '413',
      '415',
      '429',
      '500',
      '503',
      '507',
    ])
    expect(statusesOf(paths['/things/stream']?.get)).toEqual(['200', '401', '429', '500', '503'])
  })

  it('requires no token where none is needed', () => {
    expect(paths['/things/stream']?.get).toMatchObject({
      security: [{}, { privateToken: [] }, { bearer: [] }, { session: [] }],
    })
    expect(paths['/projects/{id}/things']?.get).not.toHaveProperty('security')
  })

  it('refuses a route without a summary', () => {
    const silent = route('GET', '/silent', anyone, endpoint({ input: z.object({}), handle }))
    expect(() => describeRoutes([silent])).toThrow('GET /silent does not say what it does')
  })

  it('refuses two shapes with one name', () => {
    const other = z.object({ name: z.string() }).meta({ id: 'Thing' })
    const twice = ['/a', '/b'].map((path, index) =>
      route('GET', path, anyone, { ...follow, replies: { 200: [shape, other][index] ?? null } }),
    )
    expect(() => describeRoutes(twice)).toThrow('two shapes are named Thing')
  })
})
