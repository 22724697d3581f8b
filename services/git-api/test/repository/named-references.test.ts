import type { Project } from '@switchyard/db'
import type { TestGitRepository } from '@switchyard/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type GitHarness, pushSample, startGitHarness } from '../git-harness.js'

let harness: GitHarness
let project: Project
let work: TestGitRepository
let commits: Record<'first' | 'second' | 'third' | 'side', string>

beforeAll(async () => {
  harness = await startGitHarness()
  ;({ project, work, commits } = await pushSample(harness))
})
afterAll(async () => {
  await work?.close()
  await harness?.close()
})

const get = (path: string, who: Parameters<GitHarness['send']>[0] = 'reporter') =>
  harness.send(who, 'GET', path)
const post = (body: object) =>
  harness.send('developer', 'POST', `/projects/${project.id}/repository/commits`, body)
const idsOf = async (response: Response) => ((await response.json()) as { id: string }[]).map(({ id }) => id)
const encoded = encodeURIComponent

test('a name that a branch and a tag share means the branch in every endpoint, and the tag only in its full form', async () => {
  const other = await harness.project()
  const remote = harness.remote('developer', other)
  const [branch, tag] = [`${commits.third}:refs/heads/main`, `${commits.first}:refs/tags/main`]
  await work.git('push', '--quiet', remote, branch, tag)
  const path = `/projects/${other.id}/repository/commits`
  const bodyOf = async (response: Promise<Response>) =>
    (await (await response).json()) as Record<string, unknown>
  const send = (method: string, url: string, body?: unknown) =>
    bodyOf(harness.send('developer', method, `/projects/${other.id}/${url}`, body))

  expect((await idsOf(await get(path, 'owner')))[0]).toBe(commits.third)
  expect((await idsOf(await get(`${path}?ref_name=main`, 'owner')))[0]).toBe(commits.third)
  expect((await idsOf(await get(`${path}?ref_name=refs/tags/main`, 'owner')))[0]).toBe(commits.first)
  expect(await send('GET', 'repository/commits/main')).toMatchObject({ id: commits.third })
  expect(await send('GET', 'repository/commits/main~1')).toMatchObject({ id: commits.second })
  expect(await send('GET', `repository/commits/${encoded('refs/tags/main')}`)).toMatchObject({
    id: commits.first,
  })
  expect(await send('POST', 'statuses/main', { state: 'success' })).toMatchObject({ sha: commits.third })
  expect(await send('GET', 'repository/commits/main/statuses')).toMatchObject([{ sha: commits.third }])
  expect(await send('GET', 'repository/commits/main/diff')).toMatchObject([
    { new_path: 'README.md', deleted_file: true },
  ])
  await send('POST', 'repository/commits/main/comments', { note: 'about the branch' })
  expect(await send('GET', `repository/commits/${commits.third}/comments`)).toMatchObject([
    { note: 'about the branch' },
  ])
  const action = { action: 'create', file_path: 'new.txt', content: 'x' }
  const made = { branch: 'from-main', commit_message: 'm', actions: [action] }
  const started = await send('POST', 'repository/commits', { ...made, start_branch: 'main' })
  expect(started.parent_ids).toEqual([commits.third])
  const bySha = { ...made, branch: 'from-sha', start_sha: 'main' }
  expect((await send('POST', 'repository/commits', bySha)).parent_ids).toEqual([commits.third])
  const picked = await send('POST', `repository/commits/${started.id}/cherry_pick`, { branch: 'main' })
  expect(picked.parent_ids).toEqual([commits.third])
  for (const name of ['heads/main', 'tags/main', 'refs/keep-around/x', 'FETCH_HEAD', 'main@{0}', ':/First']) {
    expect((await get(`${path}/${encoded(name)}`, 'owner')).status, name).toBe(404)
  }
  await work.git('push', '--quiet', '--force', remote, `${commits.second}:refs/heads/main`)
  expect((await idsOf(await get(path, 'owner')))[0]).toBe(commits.second)
})

test('start_project may name the project itself; another project is refused, not ignored', async () => {
  const other = await harness.project()
  const start = {
    start_branch: 'feature/x.y',
    commit_message: 'm',
    actions: [{ action: 'create', file_path: 'own.txt', content: 'x' }],
  }
  const own = [
    project.id,
    String(project.id),
    project.pathWithNamespace,
    project.pathWithNamespace.toUpperCase(),
  ]
  for (const [index, start_project] of own.entries()) {
    const response = await post({ ...start, branch: `own-${index}`, start_project })
    expect([start_project, response.status]).toEqual([start_project, 201])
  }
  for (const start_project of [other.id, other.pathWithNamespace, 'no/such', -1]) {
    const response = await post({ ...start, branch: 'from-elsewhere', start_project })
    expect([response.status, await response.json()]).toMatchObject([
      400,
      { error: 'start_project must be the project itself: a branch cannot start in another project' },
    ])
  }
  const made = await get(`/projects/${project.id}/repository/commits/from-elsewhere`)
  expect(made.status).toBe(404)
})
