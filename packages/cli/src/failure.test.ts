import { describe, expect, it } from 'vitest'
import { fileFailure, networkFailure, refusalFailure } from './failure.js'

const url = 'https://sy.example.com'

describe('a refusal is one sentence and a stable exit code', () => {
  it.each([
    [400, { message: { color: ['must be a valid color code'] } }, 2, 'color must be a valid color code'],
    [400, { error: 'state is missing' }, 2, 'state is missing'],
    [401, { message: '401 Unauthorized' }, 3, 'the token does not work'],
    [403, { message: '403 Forbidden' }, 4, '403 Forbidden: ask for the role'],
    [403, { error: 'insufficient_scope', scope: 'api read_api' }, 4, 'one of the scopes api, read_api'],
    [404, { message: '404 Project Not Found' }, 5, '404 Project Not Found: check the name'],
    [409, { message: 'Release already exists' }, 6, 'Release already exists'],
    [429, { message: '429 Too Many Requests' }, 7, 'wait a minute'],
    [500, { message: '500 Internal Server Error' }, 8, 'try again in a moment'],
    [507, { message: '507 Insufficient Storage - a disk of the server is full' }, 8, 'tell the operator'],
    [404, undefined, 8, 'check the address'],
    [404, 'page not found', 8, 'check the address'],
    [502, undefined, 8, 'answered 502: try again'],
  ])('%d %j', (status, body, exitCode, sentence) => {
    const failure = refusalFailure(status, body, url)
    expect(failure.exitCode).toBe(exitCode)
    expect(failure.message).toContain(sentence)
    expect(failure.message).not.toContain('\n')
  })

  it('does not advise a person with the role to ask for it', () => {
    const message = "403 Forbidden - The environment is frozen by the rule 'Stop': revert what it did"
    expect(refusalFailure(403, { message }, url)).toMatchObject({ exitCode: 4, message })
  })
})

describe('without an answer', () => {
  const caused = (code: string) =>
    new TypeError('fetch failed', { cause: Object.assign(new Error(), { code }) })

  it.each([
    ['ECONNREFUSED', 'nothing listens at https://sy.example.com'],
    ['ENOTFOUND', 'there is no host'],
    ['CERT_HAS_EXPIRED', 'has expired'],
    ['SELF_SIGNED_CERT_IN_CHAIN', 'NODE_EXTRA_CA_CERTS'],
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'does not speak TLS'],
    ['UND_ERR_SOCKET', 'does not answer (UND_ERR_SOCKET)'],
  ])('%s is reported in a sentence', (code, sentence) => {
    expect(networkFailure(caused(code), url)).toMatchObject({
      exitCode: 8,
      message: expect.stringContaining(sentence),
    })
  })

  it('the reason is found when several addresses failed', () => {
    const all = new AggregateError([Object.assign(new Error(), { code: 'ECONNREFUSED' })])
    expect(networkFailure(new TypeError('fetch failed', { cause: all }), url).message).toContain(
      'nothing listens',
    )
  })
})

it('a full disk is reported, and a defect is not mistaken for it', () => {
  const full = Object.assign(new Error(), { code: 'ENOSPC', path: '/home/ada/credentials.json' })
  expect(fileFailure(full)).toMatchObject({
    exitCode: 1,
    message: expect.stringContaining('the disk is full'),
  })
  expect(fileFailure(new TypeError('x is not a function'))).toBeUndefined()
})
