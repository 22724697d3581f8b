import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ClientRun, runClient } from './run-client.js'

const program = process.env.SWITCHYARD_TEST_GITLAB_RUBY ?? ''
if (!program) console.warn('SKIPPED: the gem gitlab, because none was found (apt-get install ruby-gitlab)')

describe.skipIf(!program)('the Ruby gem gitlab', () => {
  let run: ClientRun
  beforeAll(async () => {
    run = await runClient(program, 'ruby_gitlab.rb')
  })
  afterAll(() => run?.harness.close())
  const step = (name: string) => run.steps[name]
  const refusal = (name: string, code: number, message: string) => ({
    error: `Gitlab::Error::${name}`,
    code,
    message,
  })

  it('signs in, and distinguishes errors', () => {
    expect(step('user')).toBe('dora')
    expect(step('a bad token')).toEqual(refusal('Unauthorized', 401, '401 Unauthorized'))
    expect(step('a project that nobody has')).toEqual(refusal('NotFound', 404, '404 Project Not Found'))
  })

  it('lists commits by page and over all pages', () => {
    const { first, second, third } = run.commits
    expect(step('commits by page')).toEqual({ ids: [third, second], next: [first] })
    expect(step('all commits')).toEqual([third, second, first])
  })

  it('commits actions with different fields as a form', () => {
    expect(step('a commit of two actions with different fields')).toEqual({
      title: 'From Ruby',
      parent_ids: [run.commits.third],
      diff: [
        ['bin.dat', 'bin.dat'],
        ['src/b c.txt', 'moved.txt'],
      ],
    })
    expect(step('further actions of every kind')).toEqual({
      author_name: 'Rüdi',
      author_email: 'r@example.com',
      diff: [
        ['bytes', '100644'],
        ['moved.txt', '0'],
        ['ü.txt', '100644'],
      ],
    })
    expect(step('a commit that does not fit')).toEqual(
      refusal('BadRequest', 400, "A file with this name doesn't exist"),
    )
  })

  it('commits an empty commit only when it asks for one', () => {
    expect(step('an empty commit')).toEqual({ title: 'Nothing', diff: 0 })
    const wanted = '400 Bad request - Provide at least one action, or set allow_empty to true'
    expect(step('a commit without actions')).toEqual(refusal('BadRequest', 400, wanted))
  })

  it('posts statuses and comments, and cherry-picks', () => {
    expect(step('statuses')).toEqual({
      records: 1,
      listed: [{ name: 'rb/build', status: 'success', description: 'ä & b' }],
    })
    expect(step('a status of an unknown state')).toEqual(
      refusal('BadRequest', 400, 'state does not have a valid value'),
    )
    expect(step('comments')).toEqual([{ note: 'On a line', path: 'side.txt', line: 1 }])
    expect(step('cherry-pick')).toEqual(expect.any(String))
  })

  it('publishes releases, and reads pipelines', () => {
    expect(step('releases')).toEqual({ name: 'Ruby', description: 'ä & b', linked: true, left: 0 })
    expect(step('pipelines')).toEqual(['success'])
  })

  it('changes releases, and records environments and deployments', () => {
    expect(step('a changed release')).toBe('new & ä')
    expect(step('environments')).toEqual({
      slug: 'rb-qa',
      external_url: 'https://qa2.example.com',
      listed: ['rb-qa'],
      left: 0,
    })
    expect(step('deployments')).toEqual({ status: 'success', listed: true })
  })

  it('reads protected branches, members and users', () => {
    expect(step('protected branches')).toEqual(['release/*'])
    expect(step('members')).toEqual({ gus: 10, rita: 20, dora: 30 })
    expect(step('users')).toEqual(['dora'])
  })
})
