import { Gitlab } from '@gitbeaker/rest'
import type { Project } from '@switchyard/db'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type GitHarness, pushSample, startGitHarness } from '../git-harness.js'

let harness: GitHarness
let project: Project
let commits: Record<'first' | 'second' | 'third' | 'side', string>

beforeAll(async () => {
  harness = await startGitHarness()
  const sample = await pushSample(harness)
  await sample.work.close()
  ;({ project, commits } = sample)
})
afterAll(() => harness?.close())

const clientOf = (who: keyof GitHarness['tokens']) =>
  new Gitlab({ host: harness.baseUrl, token: harness.tokens[who] })

test('environments are created, changed, listed, stopped and deleted', async () => {
  const { Environments } = clientOf('developer')
  const made = await Environments.create(project.id, 'qa', { externalUrl: 'https://qa.example.com' })
  expect(made).toMatchObject({ slug: 'qa', tier: 'testing', state: 'available' })
  expect(await Environments.edit(project.id, made.id, { tier: 'staging' })).toMatchObject({ tier: 'staging' })
  expect(await Environments.all(project.id, { states: 'available' })).toHaveLength(1)
  expect(await Environments.show(project.id, made.id)).toMatchObject({ last_deployment: null })
  await expect(Environments.remove(project.id, made.id)).rejects.toThrow('Only a stopped environment')
  expect(await Environments.stop(project.id, made.id)).toMatchObject({ state: 'stopped' })
  await Environments.remove(project.id, made.id)
  expect(await Environments.all(project.id)).toEqual([])
})

test('deployments are created, moved, listed over all pages and removed', async () => {
  const { Deployments } = clientOf('developer')
  const made = await Deployments.create(project.id, 'production', commits.second, 'main', false, {
    status: 'running',
  })
  expect(made).toMatchObject({ status: 'running', environment: { name: 'production' }, deployable: null })
  expect(await Deployments.edit(project.id, made.id, 'success')).toMatchObject({ status: 'success' })
  await expect(Deployments.edit(project.id, made.id, 'running')).rejects.toThrow('from success to running')
  for (let count = 0; count < 21; count += 1) {
    await Deployments.create(project.id, 'staging', commits.third, 'main', false, { status: 'failed' })
  }
  expect(await Deployments.all(project.id)).toHaveLength(22)
  expect(await Deployments.all(project.id, { environment: 'production', status: 'success' })).toHaveLength(1)
  expect(await Deployments.allMergeRequests(project.id, made.id)).toEqual([])
  const { ProjectDORA4Metrics } = clientOf('reporter')
  const question = { interval: 'all' as const, environmentTiers: ['production', 'staging'] }
  expect(await ProjectDORA4Metrics.all(project.id, 'deployment_frequency', question)).toEqual([
    { date: null, value: 1 },
  ])
  await expect(clientOf('owner').Deployments.remove(project.id, made.id)).rejects.toThrow(
    'currently deployed',
  )
})

test('freeze periods are created, changed, listed and removed', async () => {
  const { FreezePeriods } = clientOf('owner')
  const made = await FreezePeriods.create(project.id, '0 23 * * 5', '0 8 * * 1', {
    cronTimezone: 'America/New_York',
  })
  expect(made).toMatchObject({ cron_timezone: 'America/New_York' })
  expect(await FreezePeriods.edit(project.id, made.id, { freezeEnd: '0 9 * * 1' })).toMatchObject({
    freeze_end: '0 9 * * 1',
  })
  expect(await FreezePeriods.all(project.id)).toHaveLength(1)
  await FreezePeriods.remove(project.id, made.id)
  expect(await FreezePeriods.all(project.id)).toEqual([])
})

test('releases are created, changed, found as the latest and removed', async () => {
  const { ProjectReleases, Tags } = clientOf('developer')
  const given = { tagName: 'gb-1', ref: 'main', tagMessage: 'By gitbeaker', description: 'Notes' }
  expect(await ProjectReleases.create(project.id, given)).toMatchObject({ tag_name: 'gb-1', name: 'gb-1' })
  expect(await ProjectReleases.edit(project.id, 'gb-1', { name: 'One' })).toMatchObject({ name: 'One' })
  expect(await ProjectReleases.showLatest(project.id)).toMatchObject({ tag_name: 'gb-1' })
  await expect(Tags.showSignature(project.id, 'gb-1')).rejects.toThrow('404 Signature Not Found')
  await ProjectReleases.remove(project.id, 'gb-1')
  expect(await ProjectReleases.all(project.id)).toEqual([])
})

test('deploy tokens are created, shown, listed and removed', async () => {
  const { DeployTokens } = clientOf('owner')
  const of = { projectId: project.id }
  const made = await DeployTokens.create('gitbeaker', ['read_repository'], of)
  expect(made).toMatchObject({ name: 'gitbeaker', token: expect.any(String) })
  expect(await DeployTokens.show(made.id, of)).not.toHaveProperty('token')
  expect((await DeployTokens.all(of)).map(({ id }) => id)).toEqual([made.id])
  await DeployTokens.remove(made.id, of)
  expect(await DeployTokens.all(of)).toEqual([])
})

test('members are found by their name, and projects over all pages by id', async () => {
  const { ProjectMembers, Projects } = clientOf('guest')
  const found = await ProjectMembers.all(project.id, { query: 'dora', includeInherited: true })
  expect(found.map(({ username }) => username)).toEqual(['dora'])
  const page = { pagination: 'keyset', orderBy: 'id', perPage: 1, sort: 'desc', membership: true } as const
  const more = await harness.project()
  expect((await Projects.all(page)).map(({ id }) => id)).toEqual([more.id, project.id])
})

test('projects are edited, archived and found by topic', async () => {
  const { Projects } = clientOf('owner')
  const edited = await Projects.edit(project.id, {
    topics: ['rails', 'freight'],
    mergeMethod: 'ff',
    packagesEnabled: true,
  })
  expect(edited).toMatchObject({ topics: ['rails', 'freight'] })
  expect(await Projects.archive(project.id)).toMatchObject({ archived: true })
  const archived = await Projects.all({ archived: true, topic: 'freight', membership: true, simple: true })
  expect(archived.map(({ id }) => id)).toEqual([project.id])
  await expect(
    clientOf('developer').Deployments.create(project.id, 'late', commits.third, 'main', false, {
      status: 'running',
    }),
  ).rejects.toThrow('The project is archived')
  expect(await Projects.unarchive(project.id)).toMatchObject({ archived: false })
})

test('namespaces are listed and shown', async () => {
  const { Namespaces } = clientOf('owner')
  const [own] = await Namespaces.all()
  expect(own).toMatchObject({ kind: 'user', full_path: 'olga' })
  expect(await Namespaces.show('olga')).toEqual(own)
  expect(await Namespaces.exists('olga')).toEqual({ exists: true, suggests: ['olga1'] })
})
