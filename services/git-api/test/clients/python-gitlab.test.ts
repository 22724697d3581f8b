import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ClientRun, runClient } from './run-client.js'

const program = process.env.SWITCHYARD_TEST_GITLAB_PYTHON ?? ''
if (!program) console.warn('SKIPPED: python-gitlab, because none was found (apt-get install python3-gitlab)')

describe.skipIf(!program)('python-gitlab', () => {
  let run: ClientRun
  beforeAll(async () => {
    run = await runClient(program, 'python_gitlab.py')
  })
  afterAll(() => run?.harness.close())
  const step = (name: string) => run.steps[name]
  const refusal = (error: string, code: number, message: unknown) => ({ error, code, message })

  it('signs in, and distinguishes a bad token from other errors', () => {
    expect(step('auth')).toEqual({ username: 'dora', name: 'Dora Developer' })
    expect(step('auth with a bad token')).toEqual(
      refusal('GitlabAuthenticationError', 401, '401 Unauthorized'),
    )
    expect(step('version')).toEqual([expect.stringMatching(/^\d+\.\d+\.\d+/), expect.any(String)])
  })

  it('creates, changes, finds, lists and deletes projects', () => {
    expect(step('projects')).toEqual({
      path_with_namespace: 'olga/from-python',
      description: 'changed',
      default_branch: 'main',
      listed: ['from-python'],
    })
    expect(step('a project that nobody has')).toEqual(refusal('GitlabGetError', 404, '404 Project Not Found'))
  })

  it('lists commits by page, over all pages, by path and by time', () => {
    const { first, second, third } = run.commits
    expect(step('commits by page')).toEqual({
      ids: [first],
      per_page: 2,
      total: 3,
      total_pages: 2,
      prev_page: 1,
      next_page: null,
    })
    expect(step('all commits, one a page')).toEqual([third, second, first])
    expect(step('commits of a path and a time')).toEqual([
      { id: second, stats: { additions: 1, deletions: 0, total: 1 } },
    ])
  })

  it('shows a commit by the name of its branch, with its diff', () => {
    expect(step('a commit by branch')).toEqual({
      id: run.commits.side,
      stats: { additions: 1, deletions: 0, total: 1 },
      status: null,
      diff: ['side.txt'],
    })
    expect(step('a commit that nobody made')).toEqual(refusal('GitlabGetError', 404, '404 Commit Not Found'))
  })

  it('commits, and receives the reason when a commit is refused', () => {
    expect(step('a new commit')).toEqual({
      title: 'From Python',
      message: 'From Python\n\nA body',
      author_name: 'Dora Developer',
      parent_ids: [run.commits.third],
      diff: ['a/ü.txt', 'bin.dat', 'bytes', 'moved.txt'],
    })
    const taken = 'A file with this name already exists'
    expect(step('a commit that does not fit')).toEqual(refusal('GitlabCreateError', 400, taken))
    expect(step('a commit without its branch')).toEqual(refusal('GitlabHttpError', 400, 'branch is missing'))
  })

  it('cherry-picks, and receives the reason when there is nothing to pick', () => {
    expect(step('cherry-pick')).toContain(`(cherry picked from commit ${run.commits.side})`)
    expect(step('cherry-pick again')).toMatchObject({ error: 'GitlabCherryPickError', code: 400 })
  })

  it('posts the states of a build to one status', () => {
    expect(step('statuses')).toEqual({
      records: 1,
      listed: [{ name: 'py/build', status: 'success', coverage: 91.5 }],
      'of commit': 'success',
    })
    expect(step('a status of an unknown state')).toEqual(
      refusal('GitlabCreateError', 400, 'state does not have a valid value'),
    )
  })

  it('comments on a commit and on a line', () => {
    expect(step('comments')).toEqual([
      ...[0, 1, 2].map((number) => ({ note: `Number ${number}`, path: null, line: null })),
      { note: 'On a line', path: 'side.txt', line: 1 },
    ])
  })

  it('protects branches by a pattern', () => {
    expect(step('protected branches')).toEqual({
      name: 'release/*',
      levels: [40],
      listed: ['release/*'],
    })
    expect(step('a commit to a protected branch')).toEqual(
      refusal('GitlabCreateError', 403, '403 Forbidden - You are not allowed to push into this branch'),
    )
    expect(step('protected branches, taken back')).toEqual([])
  })

  it('adds, changes, lists and removes members', () => {
    expect(step('members')).toEqual({
      everybody: { gus: 10, rita: 20, dora: 30, stan: 30 },
      one: { username: 'stan', access_level: 30 },
      left: 3,
    })
  })

  it('administers users', () => {
    expect(step('users')).toEqual({
      found: { username: 'py', name: 'Pythia', state: 'active' },
      blocked: 'blocked',
      listed: ['py'],
    })
    expect(step('a user whose name is taken')).toEqual(
      refusal('GitlabCreateError', 409, 'Username has already been taken'),
    )
    expect(step('a user made by an ordinary user')).toEqual(
      refusal('GitlabCreateError', 403, '403 Forbidden'),
    )
  })

  it('creates, lists and revokes tokens of users and of projects', () => {
    expect(step('tokens')).toEqual({
      name: 'CI',
      scopes: ['read_api'],
      expires_at: '2090-01-01',
      holder: 'py',
      listed: ['CI'],
    })
    expect(step('tokens of a project')).toEqual({ bot: 'bot', listed: ['bot'], left: 0 })
  })

  it('publishes releases, protects tags, and reads the pipelines of statuses', () => {
    expect(step('releases')).toEqual({
      name: 'py-1',
      description: 'Notes',
      tag: { tag_name: 'py-1', description: 'Notes' },
      linked: true,
      left: [],
    })
    expect(step('protected tags')).toEqual([40])
    expect(step('pipelines')).toEqual({ same: true, status: 'success', jobs: ['py/pipe'] })
  })

  it('changes releases, and receives an error for a missing one', () => {
    expect(step('a changed release')).toEqual({ name: 'Two', description: 'Changed' })
    expect(step('a release that nobody made')).toEqual(
      refusal('GitlabGetError', 404, '404 Release Not Found'),
    )
  })

  it('records environments, deployments and freeze periods', () => {
    expect(step('environments')).toEqual({
      found: { slug: 'py-qa', tier: 'testing', external_url: 'https://qa2.example.com' },
      stopped: ['py-qa'],
      left: 0,
    })
    expect(step('deployments')).toEqual({
      status: 'success',
      deployable: null,
      listed: true,
      'merge requests': [],
    })
    expect(step('a deployment of nothing')).toMatchObject({ error: 'GitlabCreateError', code: 400 })
    expect(step('freeze periods')).toEqual({ zone: 'Europe/Berlin', listed: ['0 9 * * 1'] })
  })

  it('creates, lists and revokes deploy tokens', () => {
    expect(step('deploy tokens')).toEqual({
      found: { name: 'py-deploy', scopes: ['read_repository'], revoked: false, expired: false },
      everywhere: true,
      secret: true,
      left: 0,
    })
  })

  it('searches members, and reads further pages of projects by id', () => {
    expect(step('members by name')).toEqual(['rita'])
    expect(step('projects by id')).toEqual(
      [0, 1, 2].map((number) => ({ path: `keyset-${number}`, lfs_enabled: false })),
    )
  })

  it('adds, changes and removes webhooks', () => {
    expect(step('hooks')).toEqual({
      found: { url: 'https://ci.example.com/hook', push_events: false, releases_events: true },
      left: 0,
    })
  })
})
