import { createGitRepository } from '@switchyard/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { projectSettings, type Setting } from '../../src/shapes/project-settings.js'
import { type GitHarness, startGitHarness } from '../git-harness.js'

let harness: GitHarness
beforeAll(async () => {
  harness = await startGitHarness()
})
afterAll(() => harness?.close())

const ask: GitHarness['ask'] = (...request) => harness.ask(...request)

function otherValue({ kind, value }: Setting): Setting['value'] {
  if (kind === 'flag') return !value
  if (kind === 'count') return Number(value) + 7
  return kind === 'text' ? 'a text of its own' : (kind[1] ?? '')
}

const others = Object.fromEntries(
  Object.entries(projectSettings).map(([name, setting]) => [name, otherValue(setting)]),
)
const defaults = Object.fromEntries(Object.entries(projectSettings).map(([name, { value }]) => [name, value]))

async function listed(id: number) {
  const { body } = await ask('owner', 'GET', '/projects?per_page=100')
  return body.find((project: { id: number }) => project.id === id)
}

test("a new project shows its given settings, and GitLab's defaults for the others", async () => {
  const plain = await ask('owner', 'POST', '/projects', { path: 'plain' })
  expect(plain).toMatchObject({
    status: 201,
    body: { ...defaults, issues_enabled: true, emails_disabled: false, public_builds: true },
  })
  const made = await ask('owner', 'POST', '/projects', { path: 'settled', ...others })
  expect(made).toMatchObject({ status: 201, body: others })
  expect((await ask('owner', 'GET', `/projects/${made.body.id}`)).body).toMatchObject(others)
  expect(await listed(made.body.id)).toMatchObject(others)
})

test('every setting is changed alone and read back, and null restores its default', async () => {
  const { id } = await harness.project()
  let expected: Record<string, unknown> = defaults
  for (const [name, value] of Object.entries(others)) {
    expected = { ...expected, [name]: value }
    const changed = await ask('owner', 'PUT', `/projects/${id}`, { [name]: value })
    expect(changed).toMatchObject({ status: 200, body: expected })
  }
  expect((await ask('owner', 'GET', `/projects/${id}`)).body).toMatchObject(others)
  expect(await listed(id)).toMatchObject(others)
  const nulls = Object.fromEntries(Object.keys(others).map((name) => [name, null]))
  expect(await ask('owner', 'PUT', `/projects/${id}`, nulls)).toMatchObject({ status: 200, body: defaults })
})

test('concurrent changes of different settings are all kept', async () => {
  const { id } = await harness.project()
  const changes = [
    { merge_method: 'ff' },
    { squash_option: 'never' },
    { build_timeout: 60 },
    { topics: ['x'] },
  ]
  await Promise.all(changes.map((change) => ask('owner', 'PUT', `/projects/${id}`, change)))
  const { body } = await ask('owner', 'GET', `/projects/${id}`)
  expect(body).toMatchObject(Object.assign({}, ...changes))
})

test.each([
  [{ issues_enabled: 'false' }, { issues_enabled: false, issues_access_level: 'disabled' }],
  [{ builds_access_level: 'disabled' }, { jobs_enabled: false }],
  [{ packages_enabled: false }, { package_registry_access_level: 'disabled' }],
  [{ requirements_enabled: 'false' }, { requirements_access_level: 'disabled' }],
  [
    { security_and_compliance_enabled: true },
    { security_and_compliance_enabled: true, security_and_compliance_access_level: 'private' },
  ],
  [{ emails_disabled: true }, { emails_enabled: false, emails_disabled: true }],
  [{ public_builds: false }, { public_jobs: false, public_builds: false }],
  [
    { wiki_access_level: 'private', wiki_enabled: true },
    { wiki_enabled: true, wiki_access_level: 'private' },
  ],
])('%j is shown as %j', async (given, shown) => {
  const { id } = await harness.project()
  expect(await ask('owner', 'PUT', `/projects/${id}`, given)).toMatchObject({ status: 200, body: shown })
  expect((await ask('owner', 'GET', `/projects/${id}`)).body).toMatchObject(shown)
})

test('a switch that is on already does not open a feature that is limited to members', async () => {
  const { id } = await harness.project()
  await ask('owner', 'PUT', `/projects/${id}`, { snippets_access_level: 'private' })
  const { body } = await ask('owner', 'PUT', `/projects/${id}`, { snippets_enabled: true })
  expect(body.snippets_access_level).toBe('private')
})

test.each([
  [{ merge_requests_access_level: 'public' }, 'merge_requests_access_level does not have a valid value'],
  [{ squash_option: 'sometimes' }, 'squash_option does not have a valid value'],
  [{ only_allow_merge_if_pipeline_succeeds: 7 }, 'only_allow_merge_if_pipeline_succeeds is invalid'],
  [{ merge_method: 'octopus' }, 'merge_method does not have a valid value'],
  [{ build_timeout: -1 }, 'build_timeout is invalid'],
  [{ auto_devops_enabled: 'perhaps' }, 'auto_devops_enabled is invalid'],
  [
    { issues_enabled: true, issues_access_level: 'disabled' },
    'issues_enabled contradicts issues_access_level',
  ],
  [{ emails_enabled: true, emails_disabled: true }, 'emails_disabled contradicts emails_enabled'],
  [{ repository_access_level: 'disabled' }, 'repository_access_level does not have a valid value'],
  [
    { import_url: 'https://a.example/b.git' },
    'import_url is not supported: projects are not imported; push the repository',
  ],
  [{ mirror: true }, 'mirror is not supported: repositories are not mirrored'],
  [{ template_name: 'rails' }, 'template_name is not supported: there are no templates of projects'],
])('%j is refused by name, for a new project and an old one', async (given, error) => {
  const { id } = await harness.project()
  const refused = { status: 400, body: { error } }
  expect(await ask('owner', 'PUT', `/projects/${id}`, given)).toMatchObject(refused)
  expect(await ask('owner', 'POST', '/projects', { path: 'refused', ...given })).toMatchObject(refused)
})

test('a text of a setting that is too long is refused by name', async () => {
  const { id } = await harness.project()
  const asked = await ask('owner', 'PUT', `/projects/${id}`, { ci_config_path: 'x'.repeat(10_001) })
  const error = 'ci_config_path is too long (maximum is 10000 characters)'
  expect(asked).toMatchObject({ status: 400, body: { error } })
})

test('switching off a feature that does not exist is accepted', async () => {
  const { id } = await harness.project()
  const { status } = await ask('owner', 'PUT', `/projects/${id}`, {
    mirror: false,
    import_url: null,
    name: 'x',
  })
  expect(status).toBe(200)
})

test('with repository_access_level=private, only members read the code of a public project', async () => {
  const project = await harness.project({ visibility: 'public' })
  const work = await createGitRepository()
  await work.commit({ files: { a: 'a' } })
  await work.git('push', '--quiet', harness.remote('owner', project), 'main')
  const read = (who: Parameters<typeof ask>[0], path: string) =>
    harness.send(who, 'GET', `/projects/${project.id}${path}`).then(({ status }) => status)
  expect(await read('anonymous', '/repository/commits')).toBe(200)
  await ask('owner', 'PUT', `/projects/${project.id}`, { repository_access_level: 'private' })
  for (const path of ['/repository/commits', '/repository/archive', '/repository/commits/main/comments']) {
    await expect.poll(() => read('anonymous', path)).toBe(401)
    await expect.poll(() => read('stranger', path)).toBe(403)
    expect(await read('reporter', path)).toBe(200)
  }
  expect(await read('anonymous', '')).toBe(200)
  const clone = (who: 'anonymous' | 'stranger' | 'reporter') =>
    work.git('ls-remote', harness.remote(who, project))
  await expect(clone('stranger')).rejects.toThrow('403')
  await expect(clone('anonymous')).rejects.toThrow('could not read Username')
  expect(await clone('reporter')).toContain('refs/heads/main')
  await work.close()
})
