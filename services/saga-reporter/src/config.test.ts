import { loadConfig } from '@switchyard/config'
import { describe, expect, it } from 'vitest'
import { configSchema, sagaAuthOf, tlsFilesOf } from './config.js'

const load = (env: Record<string, string>) =>
  loadConfig('saga-reporter', configSchema, { DATABASE_URL: 'postgresql://u:p@localhost/db', ...env })

const tls = { SAGA_TLS_CERT_FILE: '/c.pem', SAGA_TLS_KEY_FILE: '/k.pem' }
const mtls = {
  ...tls,
  SAGA_AUTH: 'mtls',
  SAGA_TLS_CLIENT_CA_FILE: '/ca.pem',
  SAGA_MTLS_PEERS: 'orders.internal=service:orders',
}

describe('certificates', () => {
  it.each([
    [{ SAGA_TLS_CERT_FILE: '/c.pem' }, 'SAGA_TLS_KEY_FILE is required: beside SAGA_TLS_CERT_FILE'],
    [{ SAGA_TLS_KEY_FILE: '/k.pem' }, 'SAGA_TLS_CERT_FILE is required: for TLS'],
    [{ ...mtls, SAGA_TLS_CLIENT_CA_FILE: '' }, 'SAGA_TLS_CLIENT_CA_FILE is required: for SAGA_AUTH=mtls'],
    [{ ...mtls, SAGA_MTLS_PEERS: '' }, 'SAGA_MTLS_PEERS is required: for SAGA_AUTH=mtls'],
    [{ ...mtls, SAGA_MTLS_PEERS: 'orders' }, 'SAGA_MTLS_PEERS: must be NAME=service:SERVICE'],
    [{ ...mtls, SAGA_AUTH: 'token' }, 'SAGA_MTLS_PEERS: needs SAGA_AUTH=mtls'],
  ])('must fit each other: %o', (env, problem) => {
    expect(() => load(env)).toThrow(problem)
  })

  it('are files for the gRPC port, with or without client certificates', () => {
    expect(tlsFilesOf(load({}))).toBeUndefined()
    expect(tlsFilesOf(load({ ...tls, SAGA_AUTH: 'token' }))).toEqual({
      certFile: '/c.pem',
      keyFile: '/k.pem',
    })
    expect(tlsFilesOf(load(mtls))).toMatchObject({ clientCaFile: '/ca.pem' })
  })
})

describe('the address of traces', () => {
  it('must be a web address with a placeholder for the id', () => {
    const template = 'https://tempo.example.com/trace/{trace_id}'
    expect(load({ SWITCHYARD_TRACE_URL: template }).SWITCHYARD_TRACE_URL).toBe(template)
    expect(() => load({ SWITCHYARD_TRACE_URL: 'javascript:{trace_id}' })).toThrow(
      'SWITCHYARD_TRACE_URL: must be a URL such as https://tempo.example.com/trace/{trace_id}',
    )
  })
})

describe('permission to report', () => {
  it.each([
    [{}, 'none'],
    [{ GRPC_HOST: '[::1]' }, 'none'],
    [{ GRPC_HOST: '0.0.0.0' }, 'token'],
    [{ SAGA_AUTH: 'token' }, 'token'],
    [{ ...mtls, GRPC_HOST: '0.0.0.0' }, 'mtls'],
    [{ GRPC_HOST: '0.0.0.0', SAGA_AUTH: 'none', SAGA_AUTH_NONE_ON_NETWORK: 'true' }, 'none'],
  ])('with %o is %s', (env, auth) => {
    expect(sagaAuthOf(load(env))).toBe(auth)
  })

  it('never includes the whole network by accident', () => {
    expect(() => load({ GRPC_HOST: '0.0.0.0', SAGA_AUTH: 'none' })).toThrow(
      'SAGA_AUTH: none would let the whole network report',
    )
    expect(() => load({ GRPC_HOST: '127.0.0.1.example.com', SAGA_AUTH: 'none' })).toThrow('SAGA_AUTH')
  })
})
