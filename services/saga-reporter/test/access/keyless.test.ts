import { status } from '@grpc/grpc-js'
import { createUser, type JobClaims, type JobIssuer, startJobIssuer, waitFor } from '@switchyard/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTokens, startHarness, startService } from '../harness.js'

let issuer: JobIssuer
let harness: Awaited<ReturnType<typeof startHarness>>
let service: Awaited<ReturnType<typeof startService>>

const job: JobClaims = { sub: 'repo:acme/engine', aud: 'switchyard', repository: 'acme/engine' }
const tokenOf = (changes: JobClaims = {}) => issuer.token({ ...job, ...changes })

beforeAll(async () => {
  issuer = await startJobIssuer()
  harness = await startHarness()
  service = await startService(harness.serviceUrl, {
    SAGA_AUTH: 'token',
    TRUSTED_ISSUER_HOSTS: issuer.url,
    WEBHOOK_ALLOWED_HOSTS: '127.0.0.1',
  })
  await trust({ repository: 'acme/engine' }, ['saga_report', 'read_sagas'], ['acme'])
  await trust({ repository: 'acme/reader' }, ['read_sagas'])
})
afterAll(async () => {
  await service?.close()
  await harness?.close()
  await issuer?.close()
})

/** Stores a rule outside of projects, as git-api does. */
async function trust(claims: Record<string, string>, scopes: string[], tenants: string[] = []) {
  const bot = await createUser(harness.database)
  const rule = { name: 'ci', issuer: issuer.url, audience: 'switchyard', claims, scopes, tenants }
  return harness.database.prisma.trustedIssuer.create({ data: { ...rule, userId: bot.id } })
}

const start = async (token: string, sagaId: string, tenant?: string) =>
  service.grpc.report(
    'SagaStarted',
    { sagaId, serviceName: 'booking' },
    { metadata: { authorization: `Bearer ${token}`, ...(tenant && { 'x-tenant': tenant }) } },
  )

describe('the identity token of a CI job in gRPC metadata', () => {
  it('reports events for the tenants of its rule, and for no other', async () => {
    const token = await tokenOf()
    expect(await start(token, 'by-a-job')).toMatchObject({ isSuccess: true })
    const { rows } = await harness.database.pool.query('SELECT tenant FROM sagas WHERE id = $1', ['by-a-job'])
    expect(rows).toEqual([{ tenant: 'acme' }])
    await expect(start(token, 'other', 'globex')).rejects.toMatchObject({ code: status.PERMISSION_DENIED })
  })

  it('cannot report without the scope', async () => {
    const reporting = start(await tokenOf({ repository: 'acme/reader' }), 'reader')
    await expect(reporting).rejects.toMatchObject({ code: status.PERMISSION_DENIED })
  })

  it.each([
    ['another audience', { aud: 'other' }],
    ['a fork', { repository: 'mallory/engine' }],
    ['a time that is over', { exp: Math.floor(Date.now() / 1000) - 120 }],
    ['a time that is to come', { iat: Math.floor(Date.now() / 1000) + 3600 }],
    ['an issuer that nobody allows', { iss: 'https://other.example.com' }],
  ])('with %s is refused', async (_what, changes) => {
    const reporting = start(await tokenOf(changes), 'refused')
    await expect(reporting).rejects.toMatchObject({ code: status.UNAUTHENTICATED })
  })

  it('is refused once its rule is deleted', async () => {
    const rule = await trust({ repository: 'acme/brief' }, ['saga_report'])
    const token = await tokenOf({ repository: 'acme/brief' })
    expect(await start(token, 'brief')).toMatchObject({ isSuccess: true })
    await harness.database.prisma.trustedIssuer.delete({ where: { id: rule.id } })
    const code = () => start(token, 'brief').catch((error) => error.code)
    await waitFor(async () => (await code()) === status.UNAUTHENTICATED, { what: 'the refusal' })
  })
})

it('over HTTP the token reads sagas', async () => {
  const headers = { Authorization: `Bearer ${await tokenOf()}` }
  const answer = await fetch(`${service.baseUrl}/api/v4/sagas`, { headers })
  expect(answer.status).toBe(200)
})

it('jobs with the same rule and subject share a limit, which does not affect other subjects or users', async () => {
  const limited = await startService(harness.serviceUrl, {
    SAGA_AUTH: 'token',
    TRUSTED_ISSUER_HOSTS: issuer.url,
    WEBHOOK_ALLOWED_HOSTS: '127.0.0.1',
    RATE_LIMIT_PER_MINUTE: '5',
  })
  const statusOf = async (token: string) => {
    const headers = { Authorization: `Bearer ${token}` }
    return (await fetch(`${limited.baseUrl}/api/v4/sagas`, { headers })).status
  }
  const statuses = []
  for (let run = 0; run < 6; run += 1) statuses.push(await statusOf(await tokenOf({ run_id: run })))
  expect(statuses).toEqual([200, 200, 200, 200, 200, 429])
  expect(await statusOf(await tokenOf({ sub: 'another' }))).toBe(200)
  const { administrator } = await createTokens(harness.database)
  expect(await statusOf(administrator)).toBe(200)
  await limited.close()
})

it('events of jobs count by rule and subject, so that a job cannot use up the limit of another job or of a service', async () => {
  const limited = await startService(harness.serviceUrl, {
    SAGA_AUTH: 'token',
    TRUSTED_ISSUER_HOSTS: issuer.url,
    WEBHOOK_ALLOWED_HOSTS: '127.0.0.1',
    SAGA_RATE_LIMIT_PER_SERVICE: '1',
    SAGA_RATE_LIMIT_BURST: '3',
  })
  let sagas = 0
  const report = async (token: string, serviceName: string) => {
    sagas += 1
    const reported = { sagaId: `counted-${sagas}`, serviceName }
    const metadata = { authorization: `Bearer ${token}`, 'x-tenant': 'acme' }
    return limited.grpc.report('SagaStarted', reported, { metadata }).then(
      () => 'stored',
      (error: { code: status; details: string }) => error,
    )
  }
  // Many reports at once exceed the limit also on a machine that takes seconds for them.
  const runs = await Promise.all(Array.from({ length: 50 }, (_, run) => tokenOf({ run_id: run })))
  const flood = await Promise.all(runs.map((token, run) => report(token, `service-${run}`)))
  expect(flood).toContainEqual(
    expect.objectContaining({
      code: status.RESOURCE_EXHAUSTED,
      details: expect.stringContaining('this job'),
    }),
  )
  await report(await tokenOf(), 'shared')
  expect(await report(await tokenOf({ sub: 'repo:acme/another' }), 'shared')).toBe('stored')
  const { reporter } = await createTokens(harness.database)
  expect(await report(reporter, 'shared')).toBe('stored')
  expect(await report(reporter, 'service-1')).toBe('stored')
  await limited.close()
})

it('a token that is not signed by a key of the issuer is refused over gRPC, whatever algorithm it names', async () => {
  const [header = '', body = ''] = (await tokenOf()).split('.')
  const none = Buffer.from(JSON.stringify({ alg: 'none' })).toString('base64url')
  const hs256 = Buffer.from(JSON.stringify({ alg: 'HS256', kid: issuer.kid })).toString('base64url')
  for (const forged of [`${none}.${body}.x`, `${hs256}.${body}.x`, `${header}.${body}.x`])
    await expect(start(forged, 'forged')).rejects.toMatchObject({ code: status.UNAUTHENTICATED })
})
