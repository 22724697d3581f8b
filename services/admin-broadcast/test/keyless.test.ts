import { createUser, type JobClaims, type JobIssuer, startJobIssuer, waitFor } from '@switchyard/testing'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { json, startHarness } from './harness.js'

let issuer: JobIssuer
let harness: Awaited<ReturnType<typeof startHarness>>
let service: Awaited<ReturnType<typeof harness.startReplica>>

beforeAll(async () => {
  issuer = await startJobIssuer()
  harness = await startHarness()
  service = await harness.startReplica({
    TRUSTED_ISSUER_HOSTS: issuer.url,
    WEBHOOK_ALLOWED_HOSTS: '127.0.0.1',
    RATE_LIMIT_PER_MINUTE: '10',
  })
  await trust({ repository: 'acme/engine' }, ['manage_broadcasts'])
  await trust({ repository: 'acme/reader' }, ['read_metrics'])
})
afterAll(async () => {
  await service?.close()
  await harness?.close()
  await issuer?.close()
})

/** Stores a rule outside of projects, as git-api does. */
async function trust(claims: Record<string, string>, scopes: string[]) {
  const { id: userId } = await createUser(harness.database)
  const rule = { name: 'ci', issuer: issuer.url, audience: 'switchyard', claims, scopes, userId }
  return harness.database.prisma.trustedIssuer.create({ data: rule })
}

async function send(changes: JobClaims, method: string, init: RequestInit = {}) {
  const claims = { sub: 'repo:acme/engine', aud: 'switchyard', repository: 'acme/engine', ...changes }
  const headers = new Headers(init.headers)
  headers.set('Authorization', `Bearer ${await issuer.token(claims)}`)
  return fetch(`${service.baseUrl}/api/v4/broadcast_messages`, { ...init, method, headers })
}

it('a CI job posts a message with its identity token, and the audit log names the job', async () => {
  const posted = await send({ run_id: '4711' }, 'POST', json({ message: 'Deploying' }))
  expect(posted.status).toBe(201)
  expect((await send({}, 'GET')).status).toBe(200)
  const entry = await harness.database.prisma.auditEvent.findFirst({ orderBy: { id: 'desc' } })
  expect(entry?.details).toMatchObject({ job_repository: 'acme/engine', job_run: '4711' })
})

it.each([
  ['no scope for messages', { repository: 'acme/reader' }, 403],
  ['another audience', { aud: 'other' }, 401],
  ['a fork', { repository: 'mallory/engine' }, 401],
  ['a time that is over', { exp: Math.floor(Date.now() / 1000) - 120 }, 401],
])('a job with %s posts none', async (_what, changes, status) => {
  expect((await send(changes, 'POST', json({ message: 'x' }))).status).toBe(status)
})

it('a CI job is refused once its rule is deleted', async () => {
  const rule = await trust({ repository: 'acme/brief' }, ['manage_broadcasts'])
  const status = async () => (await send({ repository: 'acme/brief', sub: 'brief' }, 'GET')).status
  expect(await status()).toBe(200)
  await harness.database.prisma.trustedIssuer.delete({ where: { id: rule.id } })
  await waitFor(async () => (await status()) === 401, { what: 'the refusal' })
})

it('jobs with the same rule and subject share a limit, which does not affect other subjects or users', async () => {
  const statuses = []
  for (let run = 0; run < 11; run += 1)
    statuses.push((await send({ sub: 'many', run_id: run }, 'GET')).status)
  expect(statuses).toEqual([...Array(10).fill(200), 429])
  expect((await send({ sub: 'another' }, 'GET')).status).toBe(200)
  const headers = { 'PRIVATE-TOKEN': harness.tokens.admin }
  const answer = await fetch(`${service.baseUrl}/api/v4/broadcast_messages`, { headers })
  expect(answer.status).toBe(200)
})
