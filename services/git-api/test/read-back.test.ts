import type { Project } from '@switchyard/db'
import { createUser, type TestGitRepository } from '@switchyard/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { accessResources, type Fields, type Resource } from './access/read-back-access.js'
import { type GitHarness, pushSample, startGitHarness } from './git-harness.js'

let harness: GitHarness
let project: Project
let work: TestGitRepository
let sha: string
let user: number
/** A tag with a release. */
const tag = 'v1.0'

beforeAll(async () => {
  harness = await startGitHarness({
    env: { WEBHOOK_ALLOWED_HOSTS: 'hooks.example.com', TRUSTED_ISSUER_HOSTS: 'ci.example.com' },
  })
  await harness.database.prisma.user.updateMany({ where: { username: 'olga' }, data: { admin: true } })
  const sample = await pushSample(harness)
  project = sample.project
  work = sample.work
  sha = sample.commits.second
  user = (await createUser(harness.database, { username: 'mona' })).id
  const release = { tag_name: tag }
  await harness.ask('owner', 'POST', `/projects/${project.id}/releases`, release)
})
afterAll(async () => {
  await work?.close()
  await harness?.close()
})

const inProject = (path: string) => `/projects/{id}${path}`

const levels = (entries: unknown) => expect.objectContaining({ access_level: entries })

const resources: Record<string, () => Resource> = {
  ...accessResources(() => user),
  member: () => ({
    create: 'POST /projects/{id}/members',
    update: 'PUT /projects/{id}/members/{key}',
    given: { user_id: user, username: undefined, access_level: 30, expires_at: '2030-01-31' },
    changed: { access_level: 20, expires_at: '2031-01-31' },
    shown: ({ user_id, ...others }) => ({ ...others, ...(user_id === undefined ? {} : { id: user_id }) }),
    notShown: ['username'],
  }),
  'protected tag': () => ({
    create: 'POST /projects/{id}/protected_tags',
    given: { name: 'rel-*', create_access_level: 30, allowed_to_create: [{ access_level: 0 }] },
    shown: ({ name }) => ({ name, create_access_levels: [levels(30), levels(0)] }),
    key: 'name',
  }),
  'protected branch': () => ({
    create: 'POST /projects/{id}/protected_branches',
    update: 'PATCH /projects/{id}/protected_branches/{key}',
    given: {
      name: 'rel-*',
      push_access_level: 0,
      merge_access_level: 30,
      unprotect_access_level: 60,
      allowed_to_push: [{ access_level: 30 }],
      allowed_to_merge: [{ access_level: 0 }],
      allowed_to_unprotect: [{ access_level: 40 }],
      allow_force_push: true,
      code_owner_approval_required: true,
    },
    shown: ({ name, allow_force_push, code_owner_approval_required }) => ({
      name,
      allow_force_push,
      code_owner_approval_required,
      push_access_levels: [levels(0), levels(30)],
      merge_access_levels: [levels(30), levels(0)],
      unprotect_access_levels: [levels(60), levels(40)],
    }),
    key: 'name',
  }),
  branch: () => ({
    create: 'POST /projects/{id}/repository/branches',
    given: { branch: 'made', ref: 'v1.0' },
    shown: ({ branch }) => ({ name: branch, commit: expect.objectContaining({ id: sha }) }),
    key: 'name',
  }),
  tag: () => ({
    create: 'POST /projects/{id}/repository/tags',
    given: { tag_name: 'made', ref: 'v1.0', message: 'A text' },
    shown: ({ tag_name, message }) => ({
      name: tag_name,
      message,
      commit: expect.objectContaining({ id: sha }),
    }),
    key: 'name',
  }),
  release: () => ({
    create: 'POST /projects/{id}/releases',
    update: 'PUT /projects/{id}/releases/{key}',
    given: {
      tag_name: 'released',
      tag_message: 'Text of the tag',
      ref: 'v1.0',
      name: 'One',
      description: 'First',
      released_at: '2030-01-31T10:00:00.000Z',
      assets: { links: [{ name: 'Tool', url: 'https://files.example.com/tool', link_type: 'package' }] },
      milestones: [],
      milestone_ids: [],
    },
    changed: {
      name: 'Two',
      description: 'Second',
      released_at: '2031-01-31T10:00:00.000Z',
      milestones: [],
      milestone_ids: [],
    },
    shown: ({ assets, ...others }) => ({
      ...others,
      ...(assets
        ? { assets: expect.objectContaining({ links: [expect.objectContaining({ link_type: 'package' })] }) }
        : {}),
    }),
    notShown: ['tag_message', 'ref', 'milestones', 'milestone_ids'],
    key: 'tag_name',
  }),
  'release link': () => ({
    create: `POST /projects/{id}/releases/${tag}/assets/links`,
    update: `PUT /projects/{id}/releases/${tag}/assets/links/{key}`,
    given: {
      name: 'Tool',
      url: 'https://files.example.com/1',
      direct_asset_path: '/bin/tool',
      filepath: undefined,
      link_type: 'image',
    },
    changed: {
      name: 'Tools',
      url: 'https://files.example.com/2',
      direct_asset_path: undefined,
      filepath: '/bin/tools',
      link_type: 'runbook',
    },
    shown: ({ name, url, link_type, direct_asset_path, filepath }) => ({
      name,
      url,
      link_type,
      direct_asset_url: expect.stringContaining(`/downloads${direct_asset_path ?? filepath}`),
    }),
  }),
  environment: () => ({
    create: 'POST /projects/{id}/environments',
    update: 'PUT /projects/{id}/environments/{key}',
    given: {
      name: 'review/one',
      external_url: 'https://one.example.com',
      tier: 'testing',
      description: 'For reviews',
      auto_stop_setting: 'with_action',
    },
    changed: {
      external_url: 'https://two.example.com',
      tier: 'staging',
      description: 'For others',
      auto_stop_setting: 'always',
    },
  }),
  deployment: () => ({
    create: 'POST /projects/{id}/deployments',
    update: 'PUT /projects/{id}/deployments/{key}',
    given: {
      environment: 'prod',
      sha,
      ref: 'v1.0',
      tag: true,
      status: 'running',
      saga_id: 'saga-1',
      saga_tenant: 'default',
      services: ['billing', 'mail'],
      enforce: true,
    },
    changed: { status: 'success' },
    shown: ({ environment, ...others }) => ({
      ...others,
      ...(environment ? { environment: expect.objectContaining({ name: environment }) } : {}),
    }),
    notShown: ['tag', 'enforce'],
  }),
  'freeze period': () => ({
    create: 'POST /projects/{id}/freeze_periods',
    update: 'PUT /projects/{id}/freeze_periods/{key}',
    given: { freeze_start: '0 1 * * 5', freeze_end: '0 2 * * 1', cron_timezone: 'Europe/Berlin' },
    changed: { freeze_start: '0 3 * * 5', freeze_end: '0 4 * * 1', cron_timezone: 'Asia/Tokyo' },
  }),
  'impact rule': () => ({
    create: 'POST /projects/{id}/impact_rules',
    update: 'PUT /projects/{id}/impact_rules/{key}',
    given: {
      name: 'Stop',
      services: ['billing', 'mail'],
      measures: ['failures', 'stuck'],
      environments: ['production/eu'],
      tiers: ['production'],
      ratio_min: 3,
      confidence_min: 0.999,
      freeze: true,
      banner_message: '{{services}}',
      banner_target_path: '/shop/*',
      banner_theme: 'dark',
      banner_dismissable: true,
      webhook: true,
      dry_run: false,
    },
    changed: {
      name: 'Tell',
      services: [],
      measures: ['duration'],
      environments: [],
      tiers: ['staging'],
      ratio_min: null,
      confidence_min: 0.9,
      freeze: false,
      banner_message: '{{ref}}',
      banner_target_path: null,
      banner_theme: 'light',
      banner_dismissable: false,
      webhook: false,
      dry_run: true,
    },
  }),
  status: () => ({
    create: `POST /projects/{id}/statuses/${sha}`,
    given: {
      state: 'failed',
      ref: 'main',
      name: 'unit',
      context: undefined,
      target_url: 'https://ci.example.com/1',
      description: 'Nothing works',
      coverage: 12.5,
      pipeline_id: undefined,
      stage: 'test',
      report: [{ name: 'Tests', url: 'https://ci.example.com/1/tests' }],
      artifacts: [{ name: 'app.zip', url: 'https://ci.example.com/1/app.zip' }],
    },
    shown: ({ state, ...others }) => ({ ...others, status: state }),
    notShown: ['context', 'pipeline_id'],
    list: `/projects/{id}/repository/commits/${sha}/statuses`,
    hasNoSingle: true,
  }),
  discussion: () => ({
    create: `POST /projects/{id}/repository/commits/${sha}/discussions`,
    given: { body: 'And there', position: { new_path: 'src/b c.txt', new_line: 2 } },
    shown: ({ body, position }) => ({
      notes: [expect.objectContaining({ body, position: expect.objectContaining(position as object) })],
    }),
  }),
  comment: () => ({
    create: `POST /projects/{id}/repository/commits/${sha}/comments`,
    given: { note: 'See here', path: 'src/b c.txt', line: 2, line_type: 'new' },
    hasNoSingle: true,
  }),
}

/** The path of the notes of discussions. */
const discussions = inProject('/repository/commits/{key}/discussions')

/** Replaces path parameters, because the documentation names them differently than the table. */
const documentedPath = (path: string) =>
  path.replace(/\{\w+\}|\/\d+(?=\/)|\/[0-9a-f]{40}|\/v1\.0(?=\/)/g, '/*').replaceAll('//', '/')

const documentation = async () => JSON.parse(await (await fetch(`${harness.baseUrl}/-/openapi.json`)).text())

/** Names of the body parameters of an operation, without those that it refuses. */
async function documentedFields(operation: string): Promise<string[]> {
  const { paths, components } = await documentation()
  const [method = '', path = ''] = operation.split(' ')
  const found = Object.entries<
    Record<string, { requestBody: { content: Record<string, { schema: { $ref: string } }> } }>
  >(paths).find(
    ([documented, methods]) =>
      documentedPath(documented) === documentedPath(path) && method.toLowerCase() in methods,
  )
  const reference =
    found?.[1][method.toLowerCase()]?.requestBody.content['application/json']?.schema.$ref ?? ''
  const { properties } = components.schemas[reference.split('/').at(-1) ?? '']
  return Object.entries<{ deprecated?: boolean }>(properties).flatMap(([name, { deprecated }]) =>
    deprecated ? [] : [name],
  )
}

test.each(Object.keys(resources))('a %s is read back as given, alone and in its list', async (name) => {
  const resource = resources[name]?.() as Resource
  const {
    create,
    update,
    given,
    changed = {},
    shown = (fields) => fields,
    notShown = [],
    key = 'id',
  } = resource
  const expected = (fields: Fields) =>
    Object.fromEntries(Object.entries(shown(fields)).filter(([field]) => !notShown.includes(field)))
  const at = (path: string, id?: unknown) =>
    path.replace('{id}', String(project.id)).replace('{key}', encodeURIComponent(String(id)))
  const ask = (method: string, path: string, body?: object) => harness.ask('owner', method, path, body)

  expect(Object.keys(given).sort()).toEqual((await documentedFields(create)).sort())
  const [, collection = ''] = create.split(' ')
  const made = await ask('POST', at(collection), given)
  expect(made).toMatchObject({ status: 201, body: expected(given) })

  async function readsBack(fields: Fields) {
    const list = await ask('GET', at(resource.list ?? collection))
    const identity = name === 'comment' ? 'note' : key
    const listed = list.body.find((item: Fields) => item[identity] === made.body[identity])
    expect(listed).toMatchObject(name === 'comment' ? { note: fields.note } : fields)
    if (resource.hasNoSingle) return
    const single = await ask('GET', at(`${collection}/{key}`, made.body[key]))
    expect(single).toMatchObject({ status: 200, body: fields })
  }

  await readsBack(expected(given))
  if (update === undefined) return
  const [method = '', path = ''] = update.split(' ')
  if (resource.changed === undefined) return
  expect(Object.keys(changed).sort()).toEqual((await documentedFields(update)).sort())
  const answer = await ask(method, at(path, made.body[key]), changed)
  expect(answer).toMatchObject({ status: 200, body: expected(changed) })
  await readsBack(expected(changed))
})

test('every call that creates or changes something has a test here', async () => {
  const { paths } = await documentation()
  const withFields = Object.entries<Record<string, object>>(paths).flatMap(([path, methods]) =>
    Object.keys(methods)
      .filter((method) => ['post', 'put', 'patch'].includes(method))
      .map((method) => `${method.toUpperCase()} ${documentedPath(path)}`),
  )
  const tested = Object.values(resources).flatMap((make) => {
    const { create, update } = make()
    return [create, ...(update === undefined ? [] : [update])].map((operation) => {
      const [method, path = ''] = operation.split(' ')
      return `${method} ${documentedPath(path)}`
    })
  })
  // These have their own tests: project-settings, hook-settings, projects-of-users, discussions,
  // protected-environments, own-tokens, identities, deployment-impact, delivery-metrics, reports.
  const elsewhere = [
    'POST /projects',
    'POST /projects/user/{key}',
    'POST /user/personal_access_tokens',
    'POST /user/identities',
    'POST /users/{key}/identities',
    `POST ${inProject('/deployments/{key}/impact/dismissal')}`,
    `POST ${inProject('/deployments/{key}/change_failure')}`,
    `PUT ${inProject('')}`,
    `POST ${inProject('/hooks')}`,
    `PUT ${inProject('/hooks/{key}')}`,
    `PUT ${inProject('/hooks/{key}/custom_headers/{key}')}`,
    `POST ${discussions}/{key}/notes`,
    `PUT ${discussions}/{key}/notes/{key}`,
    `POST ${inProject('/statuses/{key}/report')}`,
    `POST ${inProject('/protected_environments')}`,
    `PUT ${inProject('/protected_environments/{key}')}`,
  ]
  const refused = /\/(?:merge_requests|issues|labels|milestones|variables|deploy_keys|groups)$/
  const actions =
    /\/(?:rotate|block|unblock|archive|unarchive|stop|stop_stale|approval|allow|deny|protect|unprotect|retry|cancel|redeliver|pipeline|session|cherry_pick|revert|commits|changelog|repository_storage_moves|uploads|backchannel_logout|exchange|preview)$|\/test\/|\/files\/|\/submodules\/|\/packages\/generic\//
  const known = new Set([
    ...tested,
    ...elsewhere.map((operation) => operation.replace(/\{\w+\}/g, '*').replaceAll('//', '/')),
  ])
  const isKnown = (operation: string) =>
    known.has(operation) || actions.test(operation) || refused.test(operation)
  expect(withFields.filter((operation) => !isKnown(operation))).toEqual([])
})

test('unsupported fields of a user are refused by name, and null clears a field', async () => {
  const names = { email: 'eve@example.com', username: 'eve', name: 'Eve' }
  const ask = (method: string, path: string, body: object) => harness.ask('owner', method, path, body)
  for (const given of [{ external: true }, { projects_limit: 3 }, { public_email: 'eve@example.com' }]) {
    const [name] = Object.keys(given)
    const refused = { status: 400, body: { error: expect.stringMatching(`^${name} is not supported`) } }
    expect(await ask('POST', '/users', { ...names, ...given })).toMatchObject(refused)
    expect(await ask('PUT', `/users/${user}`, given)).toMatchObject(refused)
  }
  await ask('PUT', `/users/${user}`, { bio: 'Sings', location: 'Stage' })
  const { body } = await ask('PUT', `/users/${user}`, { bio: null })
  expect(body).toMatchObject({ bio: '', location: 'Stage' })
})
