import { createGitRepository } from '@switchyard/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type GitHarness, startGitHarness } from '../git-harness.js'

let harness: GitHarness
beforeAll(async () => {
  harness = await startGitHarness()
})
afterAll(() => harness?.close())

const everything = {
  push_access_level: 0,
  merge_access_level: 30,
  unprotect_access_level: 40,
  allow_force_push: true,
  code_owner_approval_required: true,
}
const shownEverything = {
  push_access_levels: [{ access_level: 0, access_level_description: 'No one' }],
  merge_access_levels: [{ access_level: 30, access_level_description: 'Developers + Maintainers' }],
  unprotect_access_levels: [{ access_level: 40 }],
  allow_force_push: true,
  code_owner_approval_required: true,
}

/** Creates a project, and protects its branch `main` with these rules. */
async function protectedMain(rules: object) {
  const project = await harness.project()
  const path = `/projects/${project.id}/protected_branches`
  const made = await harness.ask('owner', 'POST', path, { name: 'main', ...rules })
  const change = (body: object, who: 'owner' | 'developer' = 'owner') =>
    harness.ask(who, 'PATCH', `${path}/main`, body)
  const read = async () => (await harness.ask('owner', 'GET', `${path}/main`)).body
  return { project, path, made, change, read }
}

test.each([
  [30, true],
  [40, false],
  [0, false],
])('a branch with merge_access_level %i says %s of developers who merge', async (level, expected) => {
  const { project } = await protectedMain({ push_access_level: 40, merge_access_level: level })
  const repository = `/projects/${project.id}/repository`
  const commit = { branch: 'main', commit_message: 'Begin', allow_empty: true }
  expect((await harness.ask('owner', 'POST', `${repository}/commits`, commit)).status).toBe(201)
  const { body } = await harness.ask('owner', 'GET', `${repository}/branches/main`)
  expect(body).toMatchObject({ developers_can_push: false, developers_can_merge: expected })
})

test('every rule is read back as given, in the answer, alone and in the list', async () => {
  const { made, path, read } = await protectedMain(everything)
  expect(made).toMatchObject({ status: 201, body: shownEverything })
  expect(await read()).toEqual(made.body)
  expect((await harness.ask('owner', 'GET', path)).body).toEqual([made.body])
})

test('a change happens in place: missing fields stay', async () => {
  const { made, change, read } = await protectedMain({ push_access_level: 40 })
  const changed = await change(everything)
  expect(changed).toMatchObject({ status: 200, body: { id: made.body.id, ...shownEverything } })
  expect((await change({})).body).toEqual(changed.body)
  const { body } = await change({ allow_force_push: 'false' })
  expect(body).toEqual({ ...changed.body, allow_force_push: false })
  expect(await read()).toEqual(body)
})

test('lists of GitLab add, change and remove levels by their ids', async () => {
  const { made, change } = await protectedMain({ allowed_to_push: [{ access_level: 40 }] })
  const [{ id }] = made.body.push_access_levels
  const added = await change({ allowed_to_push: [{ access_level: 30 }] })
  expect(added.body.push_access_levels).toMatchObject([{ id, access_level: 40 }, { access_level: 30 }])
  const removed = await change({ allowed_to_push: [{ id, _destroy: true }] })
  expect(removed.body.push_access_levels).toMatchObject([{ access_level: 30 }])
  const [{ id: left }] = removed.body.push_access_levels
  const emptied = await change({ allowed_to_push: [{ id: left, _destroy: 'true' }] })
  expect(emptied.body.push_access_levels).toMatchObject([{ access_level: 0 }])
  expect(await change({ allowed_to_push: [{ id: left, access_level: 30 }] })).toMatchObject({
    status: 400,
    body: { error: 'allowed_to_push[0][id] is invalid' },
  })
})

test('the lowest of several levels decides about a push, and a change affects the next push', async () => {
  const { project, change } = await protectedMain({ push_access_level: 0 })
  const work = await createGitRepository()
  await work.commit({ files: { a: 'a' } })
  const push = () => work.git('push', '--quiet', harness.remote('developer', project), 'main')
  await expect(push()).rejects.toThrow('You are not allowed to push into this branch: main')
  await change({ allowed_to_push: [{ access_level: 40 }] })
  await expect(push()).rejects.toThrow('You are not allowed to push into this branch: main')
  await change({ allowed_to_push: [{ access_level: 30 }] })
  await push()
  await work.close()
})

test.each([
  [
    { allowed_to_push: [{ user_id: 1 }] },
    'allowed_to_push[0][user_id] is not supported: a protection names access levels only',
  ],
  [
    { allowed_to_merge: [{ access_level: 30 }, { group_id: 1 }] },
    'allowed_to_merge[1][group_id] is not supported: a protection names access levels only',
  ],
  [
    { allowed_to_unprotect: [{ deploy_key_id: 1 }] },
    'allowed_to_unprotect[0][deploy_key_id] is not supported: a protection names access levels only',
  ],
  [{ allowed_to_push: [{}] }, 'allowed_to_push[0] names no access level'],
  [
    { allowed_to_push: [{ access_level: 50 }] },
    'allowed_to_push[0][access_level] does not have a valid value',
  ],
  [{ merge_access_level: 60 }, 'merge_access_level does not have a valid value'],
  [{ unprotect_access_level: 0 }, 'unprotect_access_level does not have a valid value'],
])('rules that cannot be kept are refused by name: %j', async (rules, error) => {
  const { made, path, change } = await protectedMain(rules)
  expect(made).toMatchObject({ status: 400, body: { error } })
  await harness.ask('owner', 'POST', path, { name: 'main' })
  expect(await change(rules)).toMatchObject({ status: 400, body: { error } })
})

test('a protection that only administrators may remove cannot be removed or changed by the owner', async () => {
  const { path, change } = await protectedMain({ unprotect_access_level: 60 })
  const refused = {
    status: 403,
    body: { message: '403 Forbidden - Only administrators may change or lift this protection' },
  }
  expect(await change({ push_access_level: 30 })).toMatchObject(refused)
  expect(await harness.ask('owner', 'DELETE', `${path}/main`)).toMatchObject(refused)
})

test('a change needs a maintainer, and an existing protection', async () => {
  const { path, change } = await protectedMain({})
  expect((await change({}, 'developer')).status).toBe(403)
  expect((await harness.ask('anonymous', 'PATCH', `${path}/main`, {})).status).toBe(401)
  expect((await harness.ask('owner', 'PATCH', `${path}/next`, {})).status).toBe(404)
})
