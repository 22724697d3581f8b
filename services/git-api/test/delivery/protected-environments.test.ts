import type { Project } from '@switchyard/db'
import { addMember, createToken, createUser } from '@switchyard/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type GitHarness, pushSample, startGitHarness } from '../git-harness.js'

let harness: GitHarness
let project: Project
let path: string
/** A developer like dora. */
let dan: { id: number; secret: string }
let max: { id: number; secret: string }

beforeAll(async () => {
  harness = await startGitHarness()
  const sample = await pushSample(harness)
  await sample.work.close()
  ;({ project } = sample)
  path = `/projects/${project.id}`
  const member = async (username: string, level: number) => {
    const user = await createUser(harness.database, { username })
    await addMember(harness.database, project, user, level)
    return { id: user.id, secret: (await createToken(harness.database, user)).secret }
  }
  dan = await member('dan', 30)
  max = await member('max', 40)
})
afterAll(() => harness?.close())

const rootToken = 'root-token-of-the-tests-0123456789'

type Who = Parameters<GitHarness['ask']>[0]

/** Sends a request with the token of a user without a name in the harness. */
async function askAs(secret: string, method: string, rest: string, body: object) {
  const headers = { 'PRIVATE-TOKEN': secret, 'Content-Type': 'application/json' }
  const init = { method, headers, body: JSON.stringify(body) }
  const answer = await fetch(`${harness.baseUrl}/api/v4${path}${rest}`, init)
  return { status: answer.status, body: (await answer.json()) as Record<string, never> }
}
const ask = (who: Who, method: string, rest: string, body?: object) =>
  harness.ask(who, method, `${path}${rest}`, body)

const protect = (name: string, given: object) =>
  ask('owner', 'POST', '/protected_environments', { name, ...given })
const maintainers = { deploy_access_levels: [{ access_level: 40 }] }
const one = (name: string) => `/protected_environments/${encodeURIComponent(name)}`
const deployment = (environment: string, status: string) => ({
  environment,
  sha: 'main',
  ref: 'main',
  tag: false,
  status,
})

test('a protection is created, changed and read back as given', async () => {
  const given = {
    deploy_access_levels: [{ access_level: 40 }, { user_id: dan.id }],
    required_approval_count: 1,
    approval_rules: [{ access_level: 40, required_approvals: 2 }, { user_id: dan.id }],
  }
  const made = await protect('review/one', given)
  const shown = {
    name: 'review/one',
    deploy_access_levels: [
      {
        id: 1,
        access_level: 40,
        access_level_description: 'Maintainers',
        user_id: null,
        group_id: null,
        group_inheritance_type: 0,
      },
      expect.objectContaining({ id: 2, access_level: null, user_id: dan.id }),
    ],
    required_approval_count: 1,
    approval_rules: [
      expect.objectContaining({ id: 1, access_level: 40, required_approvals: 2 }),
      expect.objectContaining({ id: 2, user_id: dan.id, required_approvals: 1 }),
    ],
  }
  expect(made).toMatchObject({ status: 201, body: shown })
  expect((await ask('owner', 'GET', one('review/one'))).body).toEqual(made.body)
  expect((await ask('owner', 'GET', '/protected_environments')).body).toEqual([made.body])
  expect((await protect('review/one', maintainers)).status).toBe(409)

  const changes = {
    deploy_access_levels: [{ id: 2, _destroy: true }, { id: 1, access_level: 60 }, { access_level: 30 }],
    required_approval_count: 0,
  }
  const changed = await ask('owner', 'PUT', one('review/one'), changes)
  expect(changed).toMatchObject({
    status: 200,
    body: { required_approval_count: 0, approval_rules: shown.approval_rules },
  })
  const levels = changed.body.deploy_access_levels.map(
    ({ access_level }: { access_level: number }) => access_level,
  )
  expect(levels).toEqual([60, 30])
  expect((await ask('owner', 'DELETE', one('review/one'))).status).toBe(204)
  expect((await ask('owner', 'GET', one('review/one'))).status).toBe(404)
  const where = { entityId: String(project.id), eventName: { startsWith: 'protected_environment_' } }
  expect(await harness.database.prisma.auditEvent.count({ where })).toBe(3)
})

test('only permitted users deploy to a protected environment', async () => {
  await protect('production', { deploy_access_levels: [{ access_level: 40 }, { user_id: dan.id }] })
  const refused = {
    status: 403,
    body: { message: expect.stringContaining("protected environment 'production'") },
  }
  expect(await ask('developer', 'POST', '/deployments', deployment('production', 'running'))).toMatchObject(
    refused,
  )
  expect((await ask('developer', 'POST', '/deployments', deployment('staging', 'running'))).status).toBe(201)
  const made = await askAs(dan.secret, 'POST', '/deployments', deployment('production', 'running'))
  expect(made.status).toBe(201)
  const of = `/deployments/${made.body.id}`
  expect(await ask('developer', 'PUT', of, { status: 'success' })).toMatchObject(refused)
  expect((await askAs(max.secret, 'PUT', of, { status: 'success' })).status).toBe(200)
  await ask('owner', 'DELETE', one('production'))
  expect((await ask('developer', 'POST', '/deployments', deployment('production', 'running'))).status).toBe(
    201,
  )
})

test('only users who may deploy can change, stop and delete a protected environment', async () => {
  const { body: environment } = await ask('developer', 'POST', '/environments', { name: 'kept' })
  await protect('kept', maintainers)
  const of = `/environments/${environment.id}`
  const calls = [
    ['PUT', of, { description: 'Mine' }],
    ['POST', `${of}/stop`],
    ['DELETE', of],
  ] as const
  for (const [method, rest, body] of calls)
    expect([method, (await ask('developer', method, rest, body)).status]).toEqual([method, 403])
  expect((await ask('reporter', 'GET', of)).body).toMatchObject({ state: 'available', description: null })
  const statuses = calls.map(
    ([method, rest, body]) =>
      async () =>
        (await ask('owner', method, rest, body)).status,
  )
  for (const [index, status] of statuses.entries()) expect(await status()).toBe([200, 200, 204][index])
})

test('a changed rule keeps its number of approvals, and lists have bounded length', async () => {
  const rule = { access_level: 40, required_approvals: 3 }
  await protect('bounded', { ...maintainers, approval_rules: [rule] })
  const change = (given: object) => ask('owner', 'PUT', one('bounded'), given)
  const changed = await change({ approval_rules: [{ id: 1, user_id: dan.id }] })
  expect(changed.body.approval_rules).toMatchObject([{ id: 1, user_id: dan.id, required_approvals: 3 }])
  for (const list of ['deploy_access_levels', 'approval_rules']) {
    const more = (count: number) =>
      change({ [list]: Array.from({ length: count }, () => ({ access_level: 40 })) })
    expect(await more(20)).toMatchObject({
      status: 400,
      body: { message: { [list]: ['has more than 20 entries'] } },
    })
    expect((await more(19)).status).toBe(200)
  }
})

test('parallel decisions each count once, and a deployment either begins or is rejected', async () => {
  await protect('races', { ...maintainers, required_approval_count: 1 })
  for (let round = 0; round < 5; round += 1) {
    const { body } = await ask('owner', 'POST', '/deployments', deployment('races', 'blocked'))
    const of = `/deployments/${body.id}`
    const say = (status: string) => askAs(max.secret, 'POST', `${of}/approval`, { status })
    const words = await Promise.all(['approved', 'approved', 'approved', 'approved'].map(say))
    expect(words.map(({ status }) => status)).toEqual([201, 201, 201, 201])
    expect((await ask('owner', 'GET', of)).body.approvals).toHaveLength(1)
    const [rejected, begun] = await Promise.all([
      say('rejected'),
      ask('owner', 'PUT', of, { status: 'running' }),
    ])
    const { status } = (await ask('owner', 'GET', of)).body
    if (begun.status === 200) expect([rejected.status, status]).toEqual([400, 'running'])
    else expect([rejected.status, status]).toEqual([201, 'failed'])
  }
})

test('a deployment waits for its approvals', async () => {
  const given = {
    deploy_access_levels: [{ access_level: 30 }],
    approval_rules: [{ access_level: 40, required_approvals: 2 }],
  }
  await protect('live', given)
  const early = await ask('developer', 'POST', '/deployments', deployment('live', 'running'))
  expect([early.status, early.body.message]).toEqual([403, expect.stringContaining('needs 2 more approvals')])
  const waiting = await ask('developer', 'POST', '/deployments', deployment('live', 'blocked'))
  expect(waiting).toMatchObject({ status: 201, body: { pending_approval_count: 2, approvals: [] } })
  const of = `/deployments/${waiting.body.id}`
  const run = () => ask('developer', 'PUT', of, { status: 'running' })
  expect((await run()).status).toBe(403)

  const word = { status: 'approved', comment: 'Looks right' }
  const approved = await ask('owner', 'POST', `${of}/approval`, word)
  expect(approved).toMatchObject({ status: 201, body: { ...word, user: { username: 'olga' } } })
  expect((await ask('owner', 'POST', `${of}/approval`, word)).status).toBe(201)
  expect((await ask('reporter', 'GET', of)).body).toMatchObject({
    pending_approval_count: 1,
    approvals: [word],
  })
  expect((await run()).status).toBe(403)
  expect((await askAs(max.secret, 'POST', `${of}/approval`, { status: 'approved' })).status).toBe(201)
  expect(await run()).toMatchObject({ status: 200, body: { status: 'running', pending_approval_count: 0 } })
  const late = await ask('owner', 'POST', `${of}/approval`, { status: 'rejected' })
  expect([late.status, late.body.message]).toEqual([400, 'This deployment is not waiting for approvals'])
})

test('a deployment that began before its environment was protected ends without approvals', async () => {
  const { body } = await ask('developer', 'POST', '/deployments', deployment('late', 'running'))
  await protect('late', { ...maintainers, required_approval_count: 1 })
  const end = (who: Who) => ask(who, 'PUT', `/deployments/${body.id}`, { status: 'success' })
  expect([(await end('developer')).status, (await end('owner')).status]).toEqual([403, 200])
})

test('a rejected deployment has failed, and nobody approves their own deployment', async () => {
  await protect('canary', { ...maintainers, required_approval_count: 1 })
  const { body } = await askAs(max.secret, 'POST', '/deployments', deployment('canary', 'blocked'))
  const approval = `/deployments/${body.id}/approval`
  const own = await askAs(max.secret, 'POST', approval, { status: 'approved' })
  expect(own).toMatchObject({ status: 400, body: { message: 'You cannot approve your own deployment' } })
  expect((await ask('owner', 'POST', approval, { status: 'rejected', comment: 'Not today' })).status).toBe(
    201,
  )
  const shown = { status: 'failed', pending_approval_count: 1, approvals: [{ status: 'rejected' }] }
  expect((await ask('reporter', 'GET', `/deployments/${body.id}`)).body).toMatchObject(shown)
})

test('webhooks receive that a deployment has all its approvals, and that it is rejected', async () => {
  await protect('told', { ...maintainers, required_approval_count: 2 })
  const hook = { url: 'https://8.8.8.8/hook', deployment_events: true }
  const { body: made } = await ask('owner', 'POST', '/hooks', hook)
  const deliveries = `/hooks/${made.id}/deliveries`
  const blocked = async () =>
    Number((await askAs(rootToken, 'POST', '/deployments', deployment('told', 'blocked'))).body.id)
  const say = (of: number, secret: string, status: string) =>
    askAs(secret, 'POST', `/deployments/${of}/approval`, { status })
  const told = async (of: number) => {
    const listed = (await ask('owner', 'GET', deliveries)).body as { id: string }[]
    const whole = await Promise.all(listed.map(({ id }) => ask('owner', 'GET', `${deliveries}/${id}`)))
    const bodies = whole.map((each) => JSON.parse(each.body.request_body))
    return bodies
      .filter(({ deployment_id }) => deployment_id === of)
      .map(({ status, approval, user }) => [status, approval, user.username])
      .reverse()
  }
  const first = await blocked()
  const words = [harness.tokens.owner, max.secret, max.secret]
  for (const secret of words) expect((await say(first, secret, 'approved')).status).toBe(201)
  expect(await told(first)).toEqual([
    ['blocked', undefined, 'root'],
    ['blocked', 'approved', 'max'],
  ])
  const second = await blocked()
  expect((await say(second, max.secret, 'rejected')).status).toBe(201)
  expect(await told(second)).toEqual([
    ['blocked', undefined, 'root'],
    ['failed', 'rejected', 'max'],
  ])
})

test('no token of the deploying user approves, whatever user it acts as', async () => {
  await protect('own', { ...maintainers, required_approval_count: 1 })
  const bot = async (maker: string) => {
    const given = { name: 'bot', scopes: ['api'], access_level: 40, expires_at: '2099-01-01' }
    const answer = await askAs(maker, 'POST', '/access_tokens', given)
    expect(answer.status).toBe(201)
    return String(answer.body.token)
  }
  const [one, two, other] = [await bot(max.secret), await bot(max.secret), await bot(harness.tokens.owner)]
  const approve = async (deployer: string, approver: string) => {
    const { body } = await askAs(deployer, 'POST', '/deployments', deployment('own', 'blocked'))
    return (await askAs(approver, 'POST', `/deployments/${body.id}/approval`, { status: 'approved' })).status
  }
  expect([await approve(max.secret, one), await approve(two, one), await approve(one, one)]).toEqual([
    400, 400, 400,
  ])
  // A maintainer may approve a deployment that the CI makes with a token of that maintainer, and other bots
  // may approve, too.
  expect([
    await approve(max.secret, other),
    await approve(one, other),
    await approve(one, max.secret),
  ]).toEqual([201, 201, 201])
})

test('a protected environment enforces freeze periods', async () => {
  await protect('frozen', maintainers)
  const period = { freeze_start: '* * * * *', freeze_end: '0 0 1 1 *' }
  const { body: freeze } = await ask('owner', 'POST', '/freeze_periods', period)
  const refused = { status: 403, body: { freeze_end_at: expect.any(String) } }
  expect(await ask('owner', 'POST', '/deployments', deployment('frozen', 'running'))).toMatchObject(refused)
  const waiting = await ask('owner', 'POST', '/deployments', deployment('frozen', 'created'))
  expect(waiting.status).toBe(201)
  expect(await ask('owner', 'PUT', `/deployments/${waiting.body.id}`, { status: 'running' })).toMatchObject(
    refused,
  )
  await ask('owner', 'DELETE', `/freeze_periods/${freeze.id}`)
  expect((await ask('owner', 'PUT', `/deployments/${waiting.body.id}`, { status: 'running' })).status).toBe(
    200,
  )
})

test('bad input is refused', async () => {
  const bad = async (given: object, name = 'bad') => {
    const { status, body } = await protect(name, given)
    return [status, body.error ?? body.message]
  }
  const list = 'deploy_access_levels'
  expect(await bad({})).toEqual([400, `${list} is missing`])
  expect(await bad({ [list]: [] })).toEqual([400, `${list} is empty`])
  expect(await bad({ [list]: [{}] })).toEqual([
    400,
    `${list}[0] names neither access_level nor user_id, or both`,
  ])
  expect(await bad({ [list]: [{ access_level: 20 }] })).toEqual([
    400,
    `${list}[0][access_level] does not have a valid value`,
  ])
  expect((await bad({ [list]: [{ group_id: 1 }] }))[0]).toBe(400)
  expect((await bad({ [list]: [{ user_id: 999_999 }] }))[1]).toBe(
    'User 999999 is not a member of this project',
  )
  expect((await bad({ [list]: Array.from({ length: 21 }, () => ({ access_level: 40 })) }))[0]).toBe(400)
  expect((await bad({ ...maintainers, required_approval_count: 6 }))[0]).toBe(400)
  for (const name of ['', ' ', 'a\0b', '/x', 'x'.repeat(256), '../x\u202e'])
    expect((await bad(maintainers, name))[0]).toBe(400)
  await protect('good', maintainers)
  expect((await ask('owner', 'PUT', one('good'), { [list]: [{ id: 9, access_level: 30 }] })).status).toBe(400)
  const approval = (status: string, id = 999_999) =>
    ask('owner', 'POST', `/deployments/${id}/approval`, { status })
  expect([(await approval('maybe')).status, (await approval('approved')).status]).toEqual([400, 404])
  const { body } = await ask('developer', 'POST', '/deployments', deployment('open', 'created'))
  expect((await approval('approved', body.id)).status).toBe(400)
})

test('protections need a maintainer, and approvals need a user whom a rule names', async () => {
  const { body } = await ask('owner', 'POST', '/deployments', deployment('good', 'blocked'))
  const calls = [
    ['GET', '/protected_environments'],
    ['POST', '/protected_environments'],
    ['GET', one('good')],
    ['PUT', one('good')],
    ['DELETE', one('good')],
    ['POST', `/deployments/${body.id}/approval`],
  ] as const
  for (const [method, rest] of calls) {
    const given = method === 'GET' ? undefined : { status: 'approved', name: 'x', ...maintainers }
    const status = async (who: Who) => (await ask(who, method, rest, given)).status
    expect([
      method,
      rest,
      await status('anonymous'),
      await status('stranger'),
      await status('developer'),
    ]).toEqual([method, rest, 401, 404, 403])
  }
  for (const method of ['GET', 'PUT', 'DELETE']) {
    const given = method === 'GET' ? undefined : {}
    expect((await ask('owner', method, one('no/such'), given)).status).toBe(404)
  }
})
