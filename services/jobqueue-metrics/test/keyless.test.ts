import { createUser, type JobClaims, type JobIssuer, startJobIssuer, waitFor } from '@switchyard/testing'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startHarness } from './harness.js'

let issuer: JobIssuer
let harness: Awaited<ReturnType<typeof startHarness>>

beforeAll(async () => {
  issuer = await startJobIssuer()
  harness = await startHarness(() => ({
    TRUSTED_ISSUER_HOSTS: issuer.url,
    WEBHOOK_ALLOWED_HOSTS: '127.0.0.1',
    RATE_LIMIT_PER_MINUTE: '10',
  }))
  await trust({ repository: 'acme/engine' }, ['read_metrics'])
  await trust({ repository: 'acme/reporter' }, ['saga_report'])
})
afterAll(async () => {
  await harness?.close()
  await issuer?.close()
})

/** Stores a rule outside of projects, as git-api does. */
async function trust(claims: Record<string, string>, scopes: string[]) {
  const { id: userId } = await createUser(harness.database)
  const rule = { name: 'ci', issuer: issuer.url, audience: 'switchyard', claims, scopes, userId }
  return harness.database.prisma.trustedIssuer.create({ data: rule })
}

async function statusOf(changes: JobClaims, path = '/jobqueue/job_stats') {
  const claims = { sub: 'repo:acme/engine', aud: 'switchyard', repository: 'acme/engine', ...changes }
  const headers = { Authorization: `Bearer ${await issuer.token(claims)}` }
  return (await fetch(`${harness.baseUrl}/api/v4${path}`, { headers })).status
}

it('a CI job reads the queues with its identity token, and nothing else without another scope', async () => {
  expect(await statusOf({})).toBe(200)
  expect(await statusOf({}, '/jobqueue/jobs')).toBe(403)
})

it.each([
  ['no scope for queues', { repository: 'acme/reporter' }, 403],
  ['another audience', { aud: 'other' }, 401],
  ['a fork', { repository: 'mallory/engine' }, 401],
  ['a time that is over', { exp: Math.floor(Date.now() / 1000) - 120 }, 401],
])('a job with %s reads none', async (_what, changes, status) => {
  expect(await statusOf(changes)).toBe(status)
})

it('a CI job is refused once its rule is deleted', async () => {
  const rule = await trust({ repository: 'acme/brief' }, ['read_metrics'])
  const status = () => statusOf({ repository: 'acme/brief', sub: 'brief' })
  expect(await status()).toBe(200)
  await harness.database.prisma.trustedIssuer.delete({ where: { id: rule.id } })
  await waitFor(async () => (await status()) === 401, { what: 'the refusal' })
})

it('jobs with the same rule and subject share a limit, which does not affect other subjects or users', async () => {
  const statuses = []
  for (let run = 0; run < 11; run += 1) statuses.push(await statusOf({ sub: 'many', run_id: run }))
  expect(statuses).toEqual([...Array(10).fill(200), 429])
  expect(await statusOf({ sub: 'another' })).toBe(200)
  expect((await harness.get('scraper', '/jobqueue/job_stats')).status).toBe(200)
})
