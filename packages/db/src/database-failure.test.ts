import { describe, expect, it } from 'vitest'
import { isDatabaseUnavailable } from './database-failure.js'

const failure = (code: string | undefined, message = 'failed', cause?: unknown) =>
  Object.assign(new Error(message, { cause }), code === undefined ? {} : { code })

describe('isDatabaseUnavailable', () => {
  it.each(['ECONNREFUSED', 'EPIPE', '57P01', '53300', '08006', '25006', '42P01', '40P01', 'P2028'])(
    'is true for %s',
    (code) => {
      expect(isDatabaseUnavailable(failure(code))).toBe(true)
    },
  )

  it.each([
    'Connection terminated unexpectedly',
    'Query read timeout',
    'timeout exceeded when trying to connect',
  ])('is true for the error of the driver: %s', (message) => {
    expect(isDatabaseUnavailable(failure(undefined, message))).toBe(true)
  })

  it('reads the cause of an error', () => {
    expect(isDatabaseUnavailable(failure(undefined, 'wrapped', failure('ECONNRESET')))).toBe(true)
  })

  it.each(['23505', '22021', '42601', 'ERR_INVALID_ARG_TYPE'])(
    'is false for %s, which is not temporary',
    (code) => {
      expect(isDatabaseUnavailable(failure(code))).toBe(false)
    },
  )

  it('is false for errors outside of the database', () => {
    expect(isDatabaseUnavailable(new TypeError('x is not a function'))).toBe(false)
    expect(isDatabaseUnavailable('text')).toBe(false)
  })
})
