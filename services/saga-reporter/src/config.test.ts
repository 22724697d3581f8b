import { loadConfig } from '@switchyard/service-kit/config'
import { describe, expect, it } from 'vitest'
import { configSchema, sagaAuthOf } from './config.js'

const load = (env: Record<string, string>) =>
  loadConfig('saga-reporter', configSchema, { DATABASE_URL: 'postgresql://u:p@localhost/db', ...env })

describe('who may report', () => {
  it.each([
    [{}, 'none'],
    [{ GRPC_HOST: '[::1]' }, 'none'],
    [{ GRPC_HOST: '0.0.0.0' }, 'token'],
    [{ SAGA_AUTH: 'token' }, 'token'],
    [{ GRPC_HOST: '0.0.0.0', SAGA_AUTH: 'none', SAGA_AUTH_NONE_ON_NETWORK: 'true' }, 'none'],
  ])('with %o is %s', (env, auth) => {
    expect(sagaAuthOf(load(env))).toBe(auth)
  })

  it('is never everybody on the network by accident', () => {
    expect(() => load({ GRPC_HOST: '0.0.0.0', SAGA_AUTH: 'none' })).toThrow(
      'SAGA_AUTH: none would let the whole network report',
    )
    expect(() => load({ GRPC_HOST: '127.0.0.1.example.com', SAGA_AUTH: 'none' })).toThrow('SAGA_AUTH')
  })
})
