import { invalid, unavailable } from '@switchyard/domain'
import { describe, expect, it } from 'vitest'
import { toHttpError } from './errors.js'

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
    ['behind a dependency that is away', unavailable('git', { cause: ofGit })],
  ])('%s is answered with 507, and nothing of the error is shown', (_where, error) => {
    expect(toHttpError(error)).toEqual({
      status: 507,
      body: { message: '507 Insufficient Storage - a disk of the server is full' },
    })
  })

  it('does not take the place of a refusal, or of another failure', () => {
    expect(toHttpError(invalid('No space left on device')).status).toBe(400)
    expect(toHttpError(unavailable('git')).status).toBe(503)
    expect(toHttpError(new Error('anything')).status).toBe(500)
  })
})
