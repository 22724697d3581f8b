import { createDatabase, type Database } from '@switchyard/db'
import { createTestDatabase, createUser, type JobIssuer, startJobIssuer } from '@switchyard/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openFindJob } from '../src/job-identity/find-job.js'

let issuer: JobIssuer
let database: Database
let lines: [fields: object, text: string][] = []
let find: NonNullable<ReturnType<typeof openFindJob>>
const closing: (() => unknown)[] = []

beforeAll(async () => {
  issuer = await startJobIssuer()
  const testDatabase = await createTestDatabase()
  database = createDatabase({ url: testDatabase.url, poolSizeMax: 2, applicationName: 'test' })
  closing.push(
    () => issuer.close(),
    () => database.close(),
    () => testDatabase.close(),
  )
  const { id: userId } = await createUser(database)
  const claims = { repository: 'acme/engine' }
  const rule = {
    name: 'ci',
    issuer: issuer.url,
    audience: 'switchyard',
    claims,
    scopes: ['read_metrics'],
    userId,
  }
  await database.prisma.trustedIssuer.create({ data: rule })
})
afterAll(async () => {
  for (const close of closing) await close()
})
beforeEach(() => {
  lines = []
  const config = {
    TRUSTED_ISSUER_HOSTS: issuer.url,
    WEBHOOK_ALLOWED_HOSTS: '127.0.0.1',
    WEBHOOK_ALLOW_PRIVATE_NETWORKS: false,
  }
  const logger = { warn: (...line: unknown[]) => void lines.push(line as [object, string]) }
  const lifecycle = { onClose: (_what: string, close: () => unknown) => void closing.unshift(close) }
  const opened = openFindJob(config, { database, logger, lifecycle })
  if (!opened) throw new Error('no issuer is allowed')
  find = opened
})

const claims = { sub: 'repo:acme/engine', aud: 'switchyard', repository: 'acme/engine', secret_claim: 'hush' }
const now = () => Math.floor(Date.now() / 1000)

describe('the reason why the token of a job is refused', () => {
  it.each([
    ['expired', () => ({ exp: now() - 120 }), { reason: 'ERR_JWT_EXPIRED', claim: 'exp' }],
    ['too old', () => ({ iat: now() - 4000 }), { reason: 'ERR_JWT_EXPIRED', claim: 'iat' }],
    [
      'not valid yet',
      () => ({ nbf: now() + 120 }),
      { reason: 'ERR_JWT_CLAIM_VALIDATION_FAILED', claim: 'nbf' },
    ],
    ['of a fork', () => ({ repository: 'mallory/engine' }), { reason: 'no rule matches' }],
    ['for another audience', () => ({ aud: 'other' }), { reason: 'no rule matches' }],
  ])('is logged with the issuer, and without the rest of the token: %s', async (_what, changes, refusal) => {
    const token = await issuer.token({ ...claims, ...changes() })
    expect(await find(token, undefined)).toBeNull()
    const said = 'the identity token of a CI job was refused'
    expect(lines).toEqual([[{ ...refusal, issuer: issuer.url }, said]])
    expect(JSON.stringify(lines)).not.toMatch(/hush|acme|mallory/)
    expect(JSON.stringify(lines)).not.toContain(token.split('.')[2])
  })

  it('names a project whose rules do not name the issuer, and never an issuer that is not allowed', async () => {
    expect(await find(await issuer.token(claims), `x${'y'.repeat(300)}`)).toBeNull()
    expect(
      await find(await issuer.token({ ...claims, iss: 'https://mallory.example.com' }), 'a/b'),
    ).toBeNull()
    expect(await find('eyJ.eyJ.x', undefined)).toBeNull()
    expect(lines.map(([fields]) => fields)).toEqual([
      { reason: 'no rule names the issuer', issuer: issuer.url, project: `x${'y'.repeat(198)}…` },
      { reason: 'unknown issuer', project: 'a/b' },
      { reason: 'unknown issuer' },
    ])
  })

  it('is not logged for a valid token, and not for each token of a flood', async () => {
    expect(await find(await issuer.token(claims), undefined)).toMatchObject({
      token: { scopes: ['read_metrics'] },
    })
    expect(lines).toEqual([])
    for (let count = 0; count < 100; count += 1) await find('eyJ.eyJ.x', undefined)
    expect(lines).toHaveLength(60)
  })
})
