import { createHash } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Project } from '@switchyard/db'
import { isolatedGitEnv, type TestGitRepository } from '@switchyard/testing'
import { execa } from 'execa'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type GitHarness, pushSample, startGitHarness } from '../git-harness.js'

let harness: GitHarness
let project: Project
let work: TestGitRepository
let commits: Record<'first' | 'second' | 'third' | 'side', string>
let signed: string

const signature = ['gpgsig -----BEGIN SSH SIGNATURE-----', ' U1NIU0lH', ' -----END SSH SIGNATURE-----']

beforeAll(async () => {
  harness = await startGitHarness()
  ;({ project, work, commits } = await pushSample(harness))
  await work.git('switch', '--quiet', '--create', 'lines', commits.second)
  const text = 'one\nTWO\nthree\nfour\nfive\nsix\nseven'
  await work.commit({
    branch: 'lines',
    files: {
      'src/b c.txt': text,
      '.gitattributes': 'secret.txt export-ignore\n',
      'secret.txt': 'kept out\n',
      'docs/one.md': 'one\n',
      'docs/deep/two.md': 'two\n',
      'docs/deep/three.md': 'three\n',
    },
    author: { name: 'Ana', email: 'ANA@example.com' },
    date: '2026-01-05T00:00:00Z',
  })
  await work.commit({
    branch: 'lines',
    files: {},
    author: { name: 'Ana Lovelace', email: 'ana@example.com' },
  })
  const object = await work.git('cat-file', 'commit', 'lines')
  const { stdout } = await execa('git', ['hash-object', '-t', 'commit', '-w', '--stdin'], {
    cwd: work.path,
    input: `${object.replace('\n\n', `\n${signature.join('\n')}\n\n`)}\n`,
    env: isolatedGitEnv(),
    extendEnv: false,
  })
  signed = stdout
  await work.git('branch', 'signed', signed)
  await work.git('push', '--quiet', harness.remote('owner', project), 'lines', 'signed')
})
afterAll(async () => {
  await work?.close()
  await harness?.close()
})

type Who = Parameters<GitHarness['send']>[0]
const repository = (rest: string, of = project) => `/projects/${of.id}/repository/${rest}`
const ask = (rest: string, who: Who = 'reporter', method = 'GET') =>
  harness.ask(who, method, repository(rest))
const refusal = async (rest: string, who: Who = 'reporter') => {
  const { status, body } = await ask(rest, who)
  return `${status} ${body.message ?? body.error}`
}
const download = (rest: string, headers: Record<string, string> = {}, method = 'GET') =>
  fetch(`${harness.baseUrl}/api/v4${repository(rest)}`, {
    method,
    headers: { 'PRIVATE-TOKEN': harness.tokens.reporter, ...headers },
  })
const everybodyElse = async (rest: string) =>
  Promise.all((['anonymous', 'stranger', 'guest'] as const).map(async (who) => (await ask(rest, who)).status))

describe('an archive', () => {
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'switchyard-archive-'))
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  /** Lists the names in an archive with tar or Python's zipfile. */
  async function namesIn(bytes: ArrayBuffer, format: string): Promise<string[]> {
    const file = join(folder, 'archive')
    await writeFile(file, Buffer.from(bytes))
    const { stdout } =
      format === 'zip'
        ? await execa('python3', ['-m', 'zipfile', '--list', file])
        : await execa('tar', ['--list', '--auto-compress', '--file', file])
    const lines = format === 'zip' ? stdout.split('\n').slice(1) : stdout.split('\n')
    return lines
      .map((line) => (format === 'zip' ? line.split(/ +\d{4}-\d\d-\d\d /, 1)[0] : line) ?? '')
      .filter(Boolean)
  }

  test('contains the files of a commit in the format of the suffix or the parameter', async () => {
    const top = `${project.path}-lines-${await work.git('rev-parse', 'lines')}`
    const files = ['.gitattributes', 'README.md', 'bin.dat', 'docs/deep/two.md', 'src/b c.txt']
    for (const [path, extension, type] of [
      ['archive?', 'tar.gz', 'application/octet-stream'],
      ['archive.zip?', 'zip', 'application/zip'],
      ['archive?format=zip&', 'zip', 'application/zip'],
      ['archive.tar?', 'tar', 'application/octet-stream'],
      ['archive.tbz2?', 'tar.bz2', 'application/octet-stream'],
    ] as const) {
      const response = await download(`${path}sha=lines`)
      expect([path, response.status]).toEqual([path, 200])
      expect(response.headers.get('content-type')).toBe(type)
      const name = response.headers.get('content-disposition')?.replaceAll('"', '')
      expect(name).toBe(`attachment; filename=${top}.${extension}`)
      const names = await namesIn(await response.arrayBuffer(), extension)
      expect(names).toEqual(expect.arrayContaining(files.map((name) => `${top}/${name}`)))
      expect(names.join('\n')).not.toContain('secret.txt')
    }
  })

  test('contains one folder, has the same bytes each time, and is not sent again to a client that has it', async () => {
    const one = await download('archive.tar?ref=refs/heads/lines&path=docs/deep/')
    expect(one.headers.get('content-disposition')).toMatch(/-docs-deep\.tar"?$/)
    const bytes = await one.arrayBuffer()
    const names = await namesIn(bytes, 'tar')
    expect(names.filter((name) => name.endsWith('.md')).map((name) => name.replace(/^[^/]+\//, ''))).toEqual([
      'docs/deep/three.md',
      'docs/deep/two.md',
    ])
    const again = await download('archive.tar?ref=refs/heads/lines&path=docs/deep/')
    expect(Buffer.from(await again.arrayBuffer()).equals(Buffer.from(bytes))).toBe(true)
    const etag = one.headers.get('etag') ?? ''
    const known = await download('archive.tar?ref=refs/heads/lines&path=docs/deep/', {
      'If-None-Match': etag,
    })
    expect([known.status, await known.text()]).toEqual([304, ''])
    expect(again.headers.get('etag')).toBe(etag)
    expect((await download('archive.tar?sha=lines')).headers.get('etag')).not.toBe(etag)
    const head = await download('archive?sha=lines', {}, 'HEAD')
    expect([head.status, await head.text()]).toEqual([200, ''])
  })

  test('of a missing revision is not found, and needs the right to read', async () => {
    expect(await refusal('archive?sha=nope')).toBe('404 404 File Not Found')
    expect(await refusal('archive?sha=--output=x')).toBe('404 404 File Not Found')
    expect(await refusal('archive?path=nope')).toBe('404 404 File Not Found')
    expect(await refusal('archive?path=../../etc')).toBe('404 404 File Not Found')
    expect(await refusal('archive.rar')).toBe('400 format does not have a valid value')
    const empty = await harness.project()
    expect((await harness.ask('reporter', 'GET', repository('archive', empty))).status).toBe(404)
    expect(await everybodyElse('archive')).toEqual([404, 404, 403])
  })
})

describe('blame', () => {
  const blame = (path: string, query: string) => `files/${encodeURIComponent(path)}/blame?${query}`

  test('names the commit of each line like git', async () => {
    const { status, body, headers } = await ask(blame('src/b c.txt', 'ref=lines'))
    expect(status).toBe(200)
    expect(headers.get('x-gitlab-file-name')).toBe('b c.txt')
    const listed = body.flatMap(({ commit, lines }: { commit: { id: string }; lines: string[] }) =>
      lines.map((line) => `${commit.id} ${line}`),
    )
    const porcelain = await work.git('blame', '--line-porcelain', 'lines', '--', 'src/b c.txt')
    const expected = [...porcelain.matchAll(/^([0-9a-f]{40}) .*\n(?:.*\n)*?\t(.*)$/gm)]
    expect(listed).toEqual(expected.map(([, id, line]) => `${id} ${line}`))
    expect(Object.keys(body[0].commit)).toEqual([
      'id',
      'parent_ids',
      'message',
      'authored_date',
      'author_name',
      'author_email',
      'committed_date',
      'committer_name',
      'committer_email',
    ])
    const range = await ask(blame('src/b c.txt', 'ref=lines&range[start]=2&range[end]=3'))
    expect(range.body.flatMap(({ lines }: { lines: string[] }) => lines)).toEqual(['TWO', 'three'])
    expect((await ask(blame('src/b c.txt', 'ref=lines&range[start]=99&range[end]=100'))).body).toEqual([])
    expect((await ask(blame('bin.dat', 'ref=lines'))).body).toEqual([])
    const head = await download(blame('README.md', 'ref=lines'), {}, 'HEAD')
    expect(head.headers.get('x-gitlab-size')).toBe('9')
  })

  test('refuses invalid requests', async () => {
    expect(await refusal(blame('README.md', ''))).toBe('400 ref is missing')
    expect(await refusal(blame('README.md', 'ref=nope'))).toBe('404 404 Commit Not Found')
    expect(await refusal(blame('docs', 'ref=lines'))).toBe('404 404 File Not Found')
    expect(await refusal(blame('../x', 'ref=lines'))).toBe('400 file_path should be a valid file path')
    expect(await refusal(blame('README.md', 'ref=lines&range[start]=3&range[end]=2'))).toMatch(
      /^400 .*range\[start\] must be less than or equal to range\[end\]$/,
    )
    expect(await refusal(blame('README.md', 'ref=lines&range[start]=0&range[end]=2'))).toMatch(/^400 range/)
    expect(await everybodyElse(blame('README.md', 'ref=lines'))).toEqual([404, 404, 403])
  })
})

describe('a blob', () => {
  test('is read by its id, as JSON or raw, also in parts', async () => {
    const id = await work.git('rev-parse', 'lines:README.md')
    expect((await ask(`blobs/${id}`)).body).toEqual({
      size: 9,
      encoding: 'base64',
      content: Buffer.from('# Sample\n').toString('base64'),
      sha: id,
    })
    const raw = await download(`blobs/${id}/raw`)
    expect([raw.status, await raw.text(), raw.headers.get('etag')]).toEqual([200, '# Sample\n', `"${id}"`])
    const part = await download(`blobs/${id}/raw`, { Range: 'bytes=2-3' })
    expect([part.status, await part.text()]).toEqual([206, 'Sa'])
  })

  test('with an unknown id is not found', async () => {
    for (const id of [
      commits.first,
      await work.git('rev-parse', 'lines:docs'),
      'f'.repeat(40),
      'main',
      '-x',
    ]) {
      expect(await refusal(`blobs/${id}`)).toBe('404 404 Blob Not Found')
      expect(await refusal(`blobs/${id}/raw`)).toBe('404 404 Blob Not Found')
    }
    expect(await everybodyElse(`blobs/${'f'.repeat(40)}`)).toEqual([404, 404, 403])
  })
})

describe('contributors', () => {
  test('are counted by e-mail address, without merges, sorted and paged', async () => {
    const { body, headers } = await ask('contributors?ref=lines&sort=desc')
    const zero = { additions: 0, deletions: 0 }
    const [ana, ...others] = body
    expect(ana).toMatchObject({ commits: 2, ...zero })
    expect(ana.email.toLowerCase()).toBe('ana@example.com')
    expect(others.map(({ commits: count }: { commits: number }) => count)).toEqual([1, 1])
    expect(headers.get('x-total')).toBe('3')
    const named = await ask('contributors?ref=lines&order_by=name&per_page=1')
    expect(named.body[0].name).toMatch(/^Ana/)
    expect((await ask('contributors?order_by=email')).status).toBe(200)
  })

  test('of a missing revision are not found, and an empty repository has none', async () => {
    expect(await refusal('contributors?ref=nope')).toBe('404 404 Ref Not Found')
    expect(await refusal('contributors?order_by=age')).toBe('400 order_by does not have a valid value')
    const empty = await harness.project()
    expect((await harness.ask('reporter', 'GET', repository('contributors', empty))).body).toEqual([])
    expect(await everybodyElse('contributors')).toEqual([404, 404, 403])
  })
})

describe('a commit', () => {
  test('shows the kind of its signature, and that it is not verified', async () => {
    expect((await ask('commits/signed/signature')).body).toEqual({
      signature_type: 'SSH',
      verification_status: 'unverified',
      commit_source: 'gitaly',
      key: null,
    })
    expect(await refusal('commits/main/signature')).toBe('404 404 Signature Not Found')
    expect(await refusal('commits/nope/signature')).toBe('404 404 Commit Not Found')
    expect(await everybodyElse('commits/main/signature')).toEqual([404, 404, 403])
  })

  test('with a tag does not make the tag signed', async () => {
    await work.git('tag', 'light', 'signed')
    const author = ['-c', 'user.name=Ana', '-c', 'user.email=ana@example.com']
    await work.git(...author, 'tag', '-a', '-m', 'Annotated', 'plain', 'signed')
    const object = await work.git('cat-file', 'tag', 'plain')
    const { stdout } = await execa('git', ['hash-object', '-t', 'tag', '-w', '--stdin'], {
      cwd: work.path,
      input: `${object}\n-----BEGIN PGP SIGNATURE-----\n\niQ==\n-----END PGP SIGNATURE-----\n`,
      env: isolatedGitEnv(),
      extendEnv: false,
    })
    await work.git('update-ref', 'refs/tags/rel/signed', stdout)
    await work.git('push', '--quiet', harness.remote('owner', project), '--tags')
    expect((await ask('tags/rel%2Fsigned/signature')).body).toMatchObject({
      signature_type: 'PGP',
      verification_status: 'unverified',
      gpg_key_id: null,
    })
    for (const tag of ['light', 'plain']) {
      expect(await refusal(`tags/${tag}/signature`)).toBe('404 404 Signature Not Found')
    }
    for (const tag of ['nope', '..', 'a%20b', '--all']) {
      expect(await refusal(`tags/${tag}/signature`), tag).toMatch(/^404 /)
    }
    expect(await everybodyElse('tags/light/signature')).toEqual([404, 404, 403])
  })

  test('has no merge requests', async () => {
    const { body, headers } = await ask('commits/main/merge_requests')
    expect([body, headers.get('x-total')]).toEqual([[], '0'])
    expect(await refusal('commits/nope/merge_requests')).toBe('404 404 Commit Not Found')
    expect(await everybodyElse('commits/main/merge_requests')).toEqual([404, 404, 403])
  })

  test('shows its comments as discussions', async () => {
    const comments = repository('commits/lines/comments')
    await harness.ask('developer', 'POST', comments, { note: 'All of it' })
    const place = { path: 'src/b c.txt', line: 2, line_type: 'new' }
    await harness.ask('developer', 'POST', comments, { note: 'This line', ...place })
    const { body, headers } = await ask('commits/lines/discussions')
    expect(headers.get('x-total')).toBe('2')
    const sha = await work.git('rev-parse', 'lines')
    expect(body).toMatchObject([
      { individual_note: true, notes: [{ body: 'All of it', type: null, author: { username: 'dora' } }] },
      {
        notes: [
          { body: 'This line', type: 'DiffNote', position: { head_sha: sha, new_line: 2, old_line: null } },
        ],
      },
    ])
    expect(body[0].id).toMatch(/^[0-9a-f]{40}$/)
    expect((await ask(`commits/lines/discussions/${body[1].id}`)).body).toEqual(body[1])
    for (const id of [sha, body[0].id.slice(0, 39), `${'0'.repeat(24)}${'f'.repeat(16)}`]) {
      expect(await refusal(`commits/lines/discussions/${id}`)).toBe('404 404 Discussion Not Found')
    }
    expect(await refusal(`commits/main/discussions/${body[0].id}`)).toBe('404 404 Discussion Not Found')
    expect(await refusal('commits/nope/discussions')).toBe('404 404 Commit Not Found')
    expect(await everybodyElse('commits/lines/discussions')).toEqual([404, 404, 403])
  })
})

describe('a list that is continued from a token', () => {
  /** Returns every item of a list by following its `Link` headers. */
  async function follow(rest: string): Promise<unknown[]> {
    const items: unknown[] = []
    let next: string | undefined = `${harness.baseUrl}/api/v4${repository(rest)}`
    while (next !== undefined) {
      const response: Response = await fetch(next, { headers: { 'PRIVATE-TOKEN': harness.tokens.reporter } })
      const page = (await response.json()) as unknown[]
      expect(response.status).toBe(200)
      expect(response.headers.get('x-total')).toBeNull()
      items.push(...page)
      next = /<([^>]*)>; rel="next"/.exec(response.headers.get('link') ?? '')?.[1]
    }
    return items
  }
  const checksum = (items: unknown[]) =>
    createHash('sha256')
      .update(
        items
          .map((item) => JSON.stringify(item))
          .sort()
          .join(),
      )
      .digest('hex')

  test('has every item once: branches, tags and trees', async () => {
    await harness.ask('developer', 'POST', repository('tags'), { tag_name: 'v2', ref: 'main' })
    for (const list of [
      'branches?sort=updated_desc&',
      'tags?',
      'tree?ref=lines&recursive=true&',
      'tree?ref=lines&',
    ]) {
      const all = (await ask(`${list}per_page=100`)).body
      const followed = await follow(`${list}pagination=keyset&per_page=2`)
      expect(followed).toHaveLength(all.length)
      expect(checksum(followed)).toBe(checksum(all))
    }
  })

  test('refuses a token that matches no item', async () => {
    for (const list of ['branches', 'tags', 'tree']) {
      expect(await refusal(`${list}?pagination=keyset&page_token=nope`)).toBe('400 page_token is invalid')
    }
  })
})
