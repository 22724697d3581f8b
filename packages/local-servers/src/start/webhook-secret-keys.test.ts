import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { webhookSecretKeys } from './webhook-secret-keys.js'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'switchyard-keys-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

it('creates a key of 32 bytes once and keeps it readable for its owner only', () => {
  const made = webhookSecretKeys(folder, undefined)
  expect(Buffer.from(made, 'base64')).toHaveLength(32)
  expect(webhookSecretKeys(folder, undefined)).toBe(made)
  const file = join(folder, 'webhook-secret-keys')
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(readFileSync(file, 'utf8').trim()).toBe(made)
})

it('uses the keys of the environment when there are some, and stores none then', () => {
  expect(webhookSecretKeys(folder, 'given')).toBe('given')
  expect(() => statSync(join(folder, 'webhook-secret-keys'))).toThrow('ENOENT')
})

it('refuses an empty file, because the secrets that its key encrypted would be lost', () => {
  writeFileSync(join(folder, 'webhook-secret-keys'), '\n')
  expect(() => webhookSecretKeys(folder, undefined)).toThrow('webhook-secret-keys is empty')
})
