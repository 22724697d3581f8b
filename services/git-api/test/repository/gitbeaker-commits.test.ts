import { Gitlab } from '@gitbeaker/rest'
import type { Project } from '@switchyard/db'
import { createToken, createUser, type TestGitRepository } from '@switchyard/testing'
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

const clientWith = (token: string) => new Gitlab({ host: harness.baseUrl, token })
const clientOf = (who: keyof GitHarness['tokens']) => clientWith(harness.tokens[who])

test('commits are listed by branch, path and page, over all pages at once', async () => {
  const { Commits } = clientOf('reporter')
  const all = await Commits.all(project.pathWithNamespace, { refName: 'main', perPage: 1 })
  expect(all.map(({ id }) => id)).toEqual([commits.third, commits.second, commits.first])
  const ofPath = await Commits.all(project.id, { refName: 'main', path: 'README.md', withStats: true })
  expect(ofPath.map(({ id, stats }) => [id, stats.additions])).toEqual([
    [commits.third, 0],
    [commits.first, 6],
  ])
  const { data, paginationInfo } = await Commits.all(project.id, { page: 2, perPage: 2, showExpanded: true })
  expect(data.map(({ id }) => id)).toEqual([commits.first])
  expect(paginationInfo).toMatchObject({ current: 2, total: 3, totalPages: 2, next: null, previous: 1 })
  expect(await Commits.all(project.id, { refName: 'nothing' })).toEqual([])
})

test('a commit is shown by hash, short hash, branch with a slash and tag', async () => {
  const { Commits } = clientOf('reporter')
  for (const name of [commits.second, commits.second.slice(0, 8), 'v1.0']) {
    expect(await Commits.show(project.id, name)).toMatchObject({ id: commits.second, status: null })
  }
  const shown = await Commits.show(project.pathWithNamespace, 'feature/x.y')
  expect(shown).toMatchObject({ id: commits.side, stats: { additions: 1, deletions: 0, total: 1 } })
  await expect(Commits.show(project.id, 'f'.repeat(40))).rejects.toThrow('404 Commit Not Found')
})

test.each([
  ['Ann <a>\n', 'Ann a', '<ann@x>', 'ann@x'],
  ['"Ann",', 'Ann', ' a b@x\n\n', 'a b@x'],
  [' . ', 'Dora Developer', '<>', 'dora@example.com'],
])('the author %j is answered as stored: %j', async (authorName, name, authorEmail, email) => {
  const { Commits } = clientOf('developer')
  const options = { startBranch: 'main', authorName, authorEmail, force: true, allowEmpty: true }
  const made = await Commits.create(project.id, 'authors', 'm', [], options)
  expect(made).toMatchObject({ author_name: name, author_email: email })
  expect(await Commits.show(project.id, made.id)).toEqual(made)
})

test('a commit with all actions is created, and its diff is the change', async () => {
  const { Commits } = clientOf('developer')
  const bytes = Buffer.from([0, 255, 128])
  const made = await Commits.create(
    project.id,
    'gitbeaker',
    'All actions',
    [
      { action: 'create', filePath: 'new file.txt', content: 'first\nsecond\n' },
      { action: 'create', filePath: 'bytes', content: bytes.toString('base64'), encoding: 'base64' },
      { action: 'update', filePath: 'bin.dat', content: 'text now' },
      { action: 'move', filePath: 'moved.txt', previousPath: 'src/b c.txt' },
      { action: 'chmod', filePath: 'new file.txt', execute_filemode: true },
    ],
    { startBranch: 'main', authorName: 'Ada', authorEmail: 'ada@example.com' },
  )
  expect(made).toMatchObject({
    title: 'All actions',
    author_name: 'Ada',
    committer_name: 'Dora Developer',
    parent_ids: [commits.third],
    stats: { additions: 2, deletions: 0 },
  })
  const diff = await Commits.showDiff(project.id, made.id)
  expect(diff.map(({ new_path }) => new_path)).toEqual(['bin.dat', 'bytes', 'moved.txt', 'new file.txt'])
  expect(diff[2]).toMatchObject({ old_path: 'src/b c.txt', renamed_file: true, new_file: false })
  expect(diff[3]).toMatchObject({
    b_mode: '100755',
    new_file: true,
    diff: '@@ -0,0 +1,2 @@\n+first\n+second\n',
  })
  const refused = Commits.create(project.id, 'gitbeaker', 'm', [
    { action: 'create', filePath: 'bytes', content: 'x' },
  ])
  await expect(refused).rejects.toThrow('A file with this name already exists')
})

test('a commit is cherry-picked to a branch after a dry run, and a second attempt has nothing to pick', async () => {
  const { Commits } = clientOf('developer')
  const dry = await Commits.cherryPick(project.id, commits.side, 'main', { dryRun: true })
  expect(dry).toMatchObject({ dry_run: 'success', diffs: [{ new_path: 'side.txt' }] })
  const picked = await Commits.cherryPick(project.id, 'feature/x.y', 'main', { message: 'Picked' })
  expect(picked).toMatchObject({ message: 'Picked', parent_ids: [commits.third] })
  await expect(Commits.cherryPick(project.id, commits.side, 'main')).rejects.toThrow(
    'has its changes already',
  )
  await expect(clientOf('reporter').Commits.cherryPick(project.id, commits.side, 'main')).rejects.toThrow(
    '403 Forbidden',
  )
})

test('projects are created, found by id and by path, listed and removed', async () => {
  const { Projects } = clientOf('owner')
  const made = await Projects.create({ name: 'By client', path: 'by-client', initializeWithReadme: true })
  expect(made).toMatchObject({ path_with_namespace: 'olga/by-client', visibility: 'private' })
  expect(await Projects.show(made.id)).toMatchObject({ id: made.id, default_branch: 'main' })
  expect(await Projects.show('olga/by-client')).toMatchObject({ id: made.id })
  expect((await Projects.all()).map(({ id }) => id)).toContain(made.id)
  await expect(clientOf('stranger').Projects.show(made.id)).rejects.toThrow('404 Project Not Found')
  await Projects.remove(made.id)
  await expect(Projects.show(made.id)).rejects.toThrow('404 Project Not Found')
})

test('an administrator creates users and tokens; a holder reads, replaces and revokes its token', async () => {
  const admin = clientWith(
    (await createToken(harness.database, await createUser(harness.database, { admin: true }))).secret,
  )
  const user = await admin.Users.create({
    email: 'client@example.com',
    name: 'Client',
    username: 'client',
    password: 'not-used-here',
  })
  expect(await clientOf('developer').Users.show(user.id)).toMatchObject({
    username: 'client',
    state: 'active',
  })
  expect((await admin.Users.all()).map(({ username }) => username)).toContain('client')
  const token = await admin.PersonalAccessTokens.create(user.id, 'CI', ['api'], { expiresAt: '2090-01-01' })
  expect(token).toMatchObject({ name: 'CI', scopes: ['api'], active: true, user_id: user.id })
  const client = clientWith(String(token.token))
  expect(await client.Users.showCurrentUser()).toMatchObject({ id: user.id, username: 'client' })
  expect(await client.PersonalAccessTokens.show()).toMatchObject({ id: token.id })
  const rotated = await client.PersonalAccessTokens.rotate('self')
  await refusedSoon(client)
  const again = clientWith(String(rotated.token))
  expect(await again.Users.showCurrentUser()).toMatchObject({ id: user.id })
  await again.PersonalAccessTokens.remove()
  await refusedSoon(again)
})

/** Waits until a revoked token is refused, because it may be cached for half a second. */
const refusedSoon = (client: ReturnType<typeof clientWith>) =>
  expect
    .poll(() => client.Users.showCurrentUser().catch((error: Error) => error.message))
    .toContain('401 Unauthorized')
