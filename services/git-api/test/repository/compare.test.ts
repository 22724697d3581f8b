import type { Project } from '@switchyard/db'
import type { TestGitRepository } from '@switchyard/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type GitHarness, pushSample, startGitHarness } from '../git-harness.js'

type Who = Parameters<GitHarness['send']>[0]

let harness: GitHarness
let project: Project
let work: TestGitRepository

beforeAll(async () => {
  harness = await startGitHarness()
  ;({ project, work } = await pushSample(harness))
})
afterAll(async () => {
  await work?.close()
  await harness?.close()
})

const ask = (who: Who, url: string) => harness.ask(who, 'GET', `/projects/${project.id}/repository/${url}`)

const idsOf = (commits: { id: string }[]) => commits.map(({ id }) => id)
const lines = (text: string) => text.split('\n').filter(Boolean)

test('a comparison has the same commits and files as git', async () => {
  for (const [from, to] of [
    ['main', 'feature/x.y'],
    ['feature/x.y', 'main'],
    ['main~2', 'main'],
  ] as const) {
    const { status, body } = await ask(
      'reporter',
      `compare?from=${encodeURIComponent(from)}&to=${encodeURIComponent(to)}`,
    )
    expect(status).toBe(200)
    expect(idsOf(body.commits)).toEqual(lines(await work.git('rev-list', '--reverse', `${from}..${to}`)))
    expect(body.commit?.id ?? null).toBe(body.commits.at(-1)?.id ?? null)
    const names = lines(await work.git('diff', '--name-only', '-M', `${from}...${to}`))
    expect(body.diffs.map((entry: { new_path: string }) => entry.new_path).sort()).toEqual(names.sort())
    expect(body).toMatchObject({ compare_timeout: false, compare_same_ref: false, commits_truncated: false })
  }
})

test('a straight comparison is against the revision itself, and has the texts of git', async () => {
  const { body } = await ask('reporter', 'compare?from=feature/x.y&to=main&straight=true&unidiff=true')
  const expected = await work.git('diff', '--name-only', '-M', 'feature/x.y', 'main')
  expect(body.diffs.map((entry: { new_path: string }) => entry.new_path).sort()).toEqual(
    lines(expected).sort(),
  )
  const patch = await work.git('diff', '-M', 'feature/x.y', 'main')
  for (const entry of body.diffs) if (entry.diff !== '') expect(`${patch}\n`).toContain(entry.diff)
})

test('a comparison of a revision with itself is empty', async () => {
  expect((await ask('reporter', 'compare?from=main&to=main')).body).toMatchObject({
    commit: null,
    commits: [],
    diffs: [],
    compare_same_ref: true,
  })
})

test('the merge base equals the result of git', async () => {
  const { status, body } = await ask('reporter', 'merge_base?refs[]=main&refs[]=feature/x.y')
  expect(status).toBe(200)
  expect(body.id).toBe(await work.git('merge-base', 'main', 'feature/x.y'))
  expect((await ask('reporter', 'merge_base?refs=main,feature/x.y')).body.id).toBe(body.id)
})

test('a commit shows its branches, tags and number', async () => {
  const first = lines(await work.git('rev-list', '--max-parents=0', 'main'))[0]
  const { body, headers } = await ask('reporter', `commits/${first}/refs?per_page=100`)
  const branches = body.filter(({ type }: { type: string }) => type === 'branch')
  expect(branches.map(({ name }: { name: string }) => name)).toEqual(
    lines(await work.git('for-each-ref', '--format=%(refname:lstrip=2)', 'refs/heads/')),
  )
  expect(headers.get('x-total')).toBe(String(body.length))
  const tags = await ask('reporter', 'commits/main/refs?type=tag')
  expect(tags.body.every(({ type }: { type: string }) => type === 'tag')).toBe(true)
  const { count } = (await ask('reporter', 'commits/main/sequence')).body
  expect(count).toBe(Number(await work.git('rev-list', '--count', 'main')))
})

test('unknown revisions are refused in the words of GitLab', async () => {
  const refused = async (url: string) => {
    const { status, body } = await ask('reporter', url)
    return `${status} ${body.message ?? body.error}`
  }
  expect(await refused('compare?from=main&to=nope')).toBe('404 404 Ref Not Found')
  expect(await refused('compare?from=--output=x&to=main')).toBe('404 404 Ref Not Found')
  expect(await refused('compare?from=main')).toBe('400 to is missing')
  expect(await refused('merge_base?refs[]=main')).toBe('400 Provide at least 2 refs')
  expect(await refused('merge_base?refs[]=main&refs[]=x&refs[]=y')).toBe('400 Could not find refs: x, y')
  expect(await refused('merge_base')).toBe('400 refs is missing')
  expect(await refused('commits/nope/refs')).toBe('404 404 Commit Not Found')
  expect(await refused('commits/nope/sequence')).toBe('404 404 Commit Not Found')
  expect(await refused('commits/main/refs?type=odd')).toBe('400 type does not have a valid value')
})

test('histories without a common commit have no merge base', async () => {
  await work.git('checkout', '--quiet', '--orphan', 'alone')
  const other = await work.commit({ message: 'Alone' })
  await work.git('push', '--quiet', harness.remote('owner', project), 'alone')
  expect((await ask('reporter', `merge_base?refs[]=main&refs[]=${other}`)).body.message).toBe(
    '404 Merge Base Not Found',
  )
  const { status, body } = await ask('reporter', 'compare?from=main&to=alone')
  expect([status, idsOf(body.commits)]).toEqual([200, [other]])
})

test('histories with two merge bases are compared with one of them', async () => {
  const commit = async (tree: string, ...parents: string[]) => {
    const author = ['-c', 'user.name=A', '-c', 'user.email=a@example.com']
    const given = parents.flatMap((parent) => ['-p', parent])
    return work.git(...author, 'commit-tree', '-m', 'crossed', ...given, tree)
  }
  const [one, two, three] = await Promise.all(
    ['main~2', 'main~1', 'main'].map((at) => work.git('rev-parse', `${at}^{tree}`)),
  )
  const root = await commit(one as string)
  const left = await commit(two as string, root)
  const right = await commit(three as string, root)
  const crossed = [await commit(two as string, left, right), await commit(three as string, right, left)]
  await work.git('branch', 'crossed-1', crossed[0] as string)
  await work.git('branch', 'crossed-2', crossed[1] as string)
  await work.git('push', '--quiet', harness.remote('owner', project), 'crossed-1', 'crossed-2')
  expect(lines(await work.git('merge-base', '--all', 'crossed-1', 'crossed-2'))).toHaveLength(2)
  const { status, body } = await ask('reporter', 'compare?from=crossed-1&to=crossed-2')
  const base = (await ask('reporter', 'merge_base?refs[]=crossed-1&refs[]=crossed-2')).body.id
  const names = lines(await work.git('diff', '--name-only', '-M', base, 'crossed-2'))
  const shown = body.diffs.map((entry: { new_path: string }) => entry.new_path)
  expect([status, shown.sort()]).toEqual([200, names.sort()])
})

test('a comparison needs the right to read the code', async () => {
  for (const url of ['compare?from=main&to=main', 'merge_base?refs=main,main', 'commits/main/refs']) {
    expect((await ask('anonymous', url)).status).toBe(404)
    expect((await ask('stranger', url)).status).toBe(404)
    expect((await ask('guest', url)).status).toBe(403)
  }
})

test('a comparison is refused as unavailable, not shown without differences, while git cannot be started', async () => {
  const compare = (straight: boolean) => ask('reporter', `compare?from=main~1&to=main&straight=${straight}`)
  // The commits are cached, the differences from the merge base are not.
  expect((await compare(true)).status).toBe(200)
  const { PATH } = process.env
  process.env.PATH = '/nonexistent'
  try {
    expect((await compare(false)).status).toBe(503)
  } finally {
    process.env.PATH = PATH
  }
  expect(await compare(false)).toMatchObject({ status: 200, body: { compare_timeout: false } })
})
