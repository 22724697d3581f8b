import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  credentialsFile,
  getConnection,
  normalUrl,
  readCredentials,
  removeCredentials,
  writeCredentials,
} from './credentials.js'

const kept = { url: 'https://sy.example.com', token: 'glpat-kept' }
let env: { XDG_CONFIG_HOME: string }
beforeEach(() => {
  env = { XDG_CONFIG_HOME: mkdtempSync(join(tmpdir(), 'switchyard-credentials-')) }
})
afterEach(() => rmSync(env.XDG_CONFIG_HOME, { recursive: true }))

describe('the stored token', () => {
  it('is in a file that only this user can read, without temporary files beside it', () => {
    const file = writeCredentials(env, { ...kept, token: 'glpat-first' })
    writeCredentials(env, kept)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(statSync(dirname(file)).mode & 0o777).toBe(0o700)
    expect(readdirSync(dirname(file))).toEqual(['credentials.json'])
    expect(readCredentials(env)).toEqual(kept)
    removeCredentials(env)
    expect(readCredentials(env)).toBeUndefined()
  })

  it('is not stored when no folder can be created, which a sentence reports', () => {
    for (const place of ['/proc/none', '/proc/none/deeper'])
      expect(() => writeCredentials({ XDG_CONFIG_HOME: place }, kept)).toThrow(
        '/proc/none: no folder can be made',
      )
  })

  it('is only sent to the address for which it was stored', () => {
    writeCredentials(env, kept)
    expect(getConnection(env)).toEqual(kept)
    expect(getConnection(env, `${kept.url}/`)).toEqual(kept)
    expect(() => getConnection(env, 'https://evil.example.com')).toThrow(
      'no token for https://evil.example.com',
    )
    expect(() => getConnection({ ...env, SWITCHYARD_URL: 'http://sy.example.com' })).toThrow('no token')
  })

  it('is overridden by the environment', () => {
    writeCredentials(env, kept)
    const token = 'glpat-given'
    expect(getConnection({ ...env, SWITCHYARD_TOKEN: token })).toEqual({ url: kept.url, token })
    const url = 'https://other.example.com'
    expect(getConnection({ ...env, SWITCHYARD_TOKEN: ` ${token}\n`, SWITCHYARD_URL: url })).toEqual({
      url,
      token,
    })
  })

  it('is requested again when its file is damaged', () => {
    writeCredentials(env, kept)
    for (const text of ['', 'null', '{"url":1}', '{"url":"https://a","token":"a\\nb"}']) {
      writeFileSync(credentialsFile(env), text)
      expect(() => getConnection(env), text).toThrow('is damaged: run "switchyard login" again')
    }
  })

  it('is not repeated in the message about an invalid token', () => {
    const given = { ...env, SWITCHYARD_URL: kept.url, SWITCHYARD_TOKEN: 'glpat-secret\nx' }
    expect(() => getConnection(given)).toThrow(/^SWITCHYARD_TOKEN is no token(?!.*glpat)/)
  })
})

describe('an address', () => {
  it.each([
    ['https://sy.example.com/', 'https://sy.example.com'],
    ['HTTPS://SY.example.com:443/api/v4/', 'https://sy.example.com'],
    ['http://localhost:8080/forge//', 'http://localhost:8080/forge'],
  ])('%s is normalized to %s', (given, expected) => {
    expect(normalUrl(given)).toBe(expected)
  })

  it.each(['sy.example.com', 'ftp://sy.example.com', '', 'javascript:alert(1)'])('%s is refused', (given) => {
    expect(() => normalUrl(given)).toThrow('the address is no URL')
  })

  it('with a password is refused without repeating it', () => {
    expect(() => normalUrl('https://ada:secret@sy.example.com')).toThrow(/^(?!.*secret).*has a password/)
  })
})
