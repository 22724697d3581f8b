import * as domain from '@switchyard/domain'
import { describe, expect, it } from 'vitest'
import { toHttpError } from './errors.js'

describe('toHttpError', () => {
  it.each([
    [
      domain.invalidParameters(['a is missing', 'b is invalid']),
      400,
      { error: 'a is missing, b is invalid' },
    ],
    [
      domain.invalid({ color: ['must be a valid color code'] }),
      400,
      { message: { color: ['must be a valid color code'] } },
    ],
    [
      domain.invalid('no', { extra: { error_code: 'conflict' } }),
      400,
      { message: 'no', error_code: 'conflict' },
    ],
    [domain.unauthenticated(), 401, { message: '401 Unauthorized' }],
    [domain.forbidden(), 403, { message: '403 Forbidden' }],
    [domain.forbidden('because'), 403, { message: '403 Forbidden - because' }],
    [domain.notFound('Project'), 404, { message: '404 Project Not Found' }],
    [domain.notFound(), 404, { message: '404 Not found' }],
    [domain.conflict('taken'), 409, { message: 'taken' }],
    [
      domain.unavailable('Redis does not answer', { cause: new Error('password=hunter2') }),
      503,
      { message: '503 Service Unavailable - Redis does not answer' },
    ],
  ])('gives %s its documented status and body', (error, status, body) => {
    expect(toHttpError(error)).toEqual({ status, body })
  })

  it('names the time after which another attempt may work, when it is known', () => {
    expect(toHttpError(domain.rateLimited('slow down', 1500)).headers).toEqual({ 'Retry-After': '2' })
  })

  it('closes the connection of a request that stalled', () => {
    expect(toHttpError(domain.timedOut())).toEqual({
      status: 408,
      body: { message: '408 Request Timeout' },
      headers: { Connection: 'close' },
    })
  })

  it('reveals nothing about an unexpected failure', () => {
    const answer = toHttpError(new Error('connect to postgres://me:hunter2@db'))
    expect(answer).toEqual({ status: 500, body: { message: '500 Internal Server Error' } })
  })
})

const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' })
const ofGit = Object.assign(new Error('git update-ref ended with 128'), {
  stderr: 'fatal: No space left on device',
})
const ofPostgres = new Error('could not extend file "base/5/1259": No space left on device')

describe('a full disk', () => {
  it.each([
    ['of this process', full],
    ['of a quota of the operating system', Object.assign(new Error('write'), { code: 'EDQUOT' })],
    ['of git', ofGit],
    ['of PostgreSQL', ofPostgres],
    ['behind another error', new Error('could not store', { cause: full })],
    ['behind a dependency that is away', domain.unavailable('git does not answer', { cause: ofGit })],
  ])('%s is answered with 507, without details of the error', (_where, error) => {
    expect(toHttpError(error)).toEqual({
      status: 507,
      body: { message: '507 Insufficient Storage - a disk of the server is full' },
    })
  })

  it('does not replace a refusal or another failure', () => {
    expect(toHttpError(domain.invalid('No space left on device')).status).toBe(400)
    expect(toHttpError(domain.unavailable('git does not answer')).status).toBe(503)
    expect(toHttpError(new Error('anything')).status).toBe(500)
  })
})
