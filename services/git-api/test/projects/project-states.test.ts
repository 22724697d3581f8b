import type { Project } from '@switchyard/db'
import type { TestGitRepository } from '@switchyard/testing'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type GitHarness, pushSample, startGitHarness } from '../git-harness.js'

let harness: GitHarness
let project: Project
let work: TestGitRepository
let commits: Record<'first' | 'third', string>

beforeAll(async () => {
  harness = await startGitHarness()
  ;({ project, work, commits } = await pushSample(harness))
  await harness.project({ path: 'quiet', visibility: 'internal' })
  const archived = await harness.project({ path: 'archived' })
  await harness.ask('owner', 'POST', `/projects/${archived.id}/archive`)
  const path = `/projects/${project.id}`
  const post = (sha: string, body: object) =>
    harness.ask('developer', 'POST', `${path}/statuses/${sha}`, body)
  await post(commits.first, { state: 'failed', ref: 'main', name: 'unit' })
  await post(commits.third, { state: 'success', ref: 'main', name: 'unit' })
  await post(commits.first, { state: 'running', ref: 'side', name: 'unit' })
  for (const [environment, status] of [
    ['one', 'running'],
    ['two', 'success'],
    ['three', 'running'],
    ['four', 'running'],
    ['five', 'running'],
  ]) {
    const given = { environment, status, ref: 'main', sha: commits.third, tag: false }
    const { status: code } = await harness.ask('developer', 'POST', `${path}/deployments`, given)
    expect(code).toBe(201)
  }
})
afterAll(async () => {
  await work?.close()
  await harness?.close()
})

interface State {
  project: { id: number; path: string }
  pipeline: { sha: string; status: string; ref: string } | null
  deployments: { environment: { name: string }; status: string }[]
}

async function states(who: Parameters<GitHarness['ask']>[0], query = '') {
  const { status, body, headers } = await harness.ask(who, 'GET', `/project_states${query}`)
  expect(status).toBe(200)
  return { found: body as State[], total: headers.get('X-Total') }
}

it('a state has the newest pipeline of the default branch and the newest running deployments', async () => {
  const { found } = await states('reporter')
  const busy = found.find((state) => state.project.id === project.id)
  expect(busy?.pipeline).toMatchObject({ sha: commits.third, status: 'success', ref: 'main' })
  expect(busy?.deployments.map(({ environment, status }) => [environment.name, status])).toEqual([
    ['five', 'running'],
    ['four', 'running'],
    ['three', 'running'],
  ])
})

it('the list has the most recently active projects first, in pages, without archived ones', async () => {
  const { found, total } = await states('reporter')
  expect(found.map((state) => state.project.path)).toEqual(['quiet', project.path])
  expect(total).toBe('2')
  const { found: second } = await states('reporter', '?per_page=1&page=2')
  expect(second.map((state) => state.project.path)).toEqual([project.path])
  expect(found[0]).toMatchObject({ pipeline: null, deployments: [] })
})

it('the list hides what the caller may not read in the project itself', async () => {
  const guest = (await states('guest')).found
  expect(guest.find((state) => state.project.id === project.id)).toMatchObject({
    pipeline: null,
    deployments: [],
  })
  expect((await states('stranger')).found.map((state) => state.project.path)).toEqual(['quiet'])
})

it('the list refuses callers without a token or without its scope, and invalid pages', async () => {
  expect((await harness.ask('anonymous', 'GET', '/project_states')).status).toBe(401)
  expect((await harness.ask('readsRepository', 'GET', '/project_states')).status).toBe(403)
  expect((await harness.ask('reporter', 'GET', '/project_states?per_page=0')).status).toBe(400)
})
