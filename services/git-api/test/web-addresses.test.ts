import type { Project } from '@switchyard/db'
import type { TestGitRepository } from '@switchyard/testing'
import { execa } from 'execa'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type GitHarness, pushSample, startGitHarness } from './git-harness.js'

let harness: GitHarness
let open: Project
let closed: Project
let work: TestGitRepository
let commits: Record<'first' | 'second' | 'third' | 'side', string>

beforeAll(async () => {
  harness = await startGitHarness()
  ;({ project: open, work, commits } = await pushSample(harness, { visibility: 'public' }))
  closed = await harness.project()
  await work.git('push', '--quiet', harness.remote('owner', closed), '--all')
  for (const { id } of [open, closed]) {
    const assets = { links: [{ name: 'Tool', url: 'https://files.example.com/tool', filepath: '/bin/tool' }] }
    const release = { tag_name: 'rel/1.0', ref: 'main', assets }
    expect((await harness.ask('owner', 'POST', `/projects/${id}/releases`, release)).status).toBe(201)
  }
})
afterAll(async () => {
  await work?.close()
  await harness?.close()
})

type Who = Parameters<GitHarness['ask']>[0]

const address = (project: Project, path: string) => `${harness.baseUrl}/${project.pathWithNamespace}${path}`

function visit(path: string, { of = open, who = 'anonymous' as Who, method = 'GET', headers = {} } = {}) {
  const credentials = who === 'anonymous' ? {} : { 'PRIVATE-TOKEN': harness.tokens[who] }
  return fetch(address(of, path), { method, redirect: 'manual', headers: { ...credentials, ...headers } })
}

describe('/-/raw', () => {
  test.each([
    ['main', () => 'main/src/b c.txt'],
    ['a branch with a slash', () => 'feature/x.y/src/b c.txt'],
    ['a tag', () => 'v1.0/src/b c.txt'],
    ['a tag with a slash', () => 'rel/1.0/src/b c.txt'],
    ['a hash', () => `${commits.second}/src/b c.txt`],
    ['HEAD', () => 'HEAD/src/b c.txt'],
    ['a slash that is encoded', () => 'feature%2Fx.y/src/b c.txt'],
  ])('answers with the bytes of a file of %s', async (_what, path) => {
    const answer = await visit(`/-/raw/${path()}`)
    expect([answer.status, await answer.text()]).toEqual([200, 'one\ntwo\nthree\nfour\nfive\nsix\n'])
    expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8')
    const head = await visit(`/-/raw/${path()}`, { method: 'HEAD' })
    expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([200, '28', ''])
  })

  test('distinguishes a branch from a tag by ref_type, and answers 304 to clients that have the file', async () => {
    await work.git('push', '--quiet', harness.remote('owner', open), `${commits.first}:refs/tags/main`)
    const read = async (type: string) => (await visit(`/-/raw/main/bin.dat?ref_type=${type}`)).arrayBuffer()
    expect(Buffer.from(await read('tags'))).toEqual(Buffer.from([0, 1, 2]))
    expect(Buffer.from(await read('heads'))).toEqual(Buffer.from([0, 9]))
    const etag = (await visit('/-/raw/main/bin.dat')).headers.get('etag') ?? ''
    expect((await visit('/-/raw/main/bin.dat', { headers: { 'If-None-Match': etag } })).status).toBe(304)
    expect((await visit('/-/raw/main/bin.dat?ref_type=x')).status).toBe(400)
  })

  test.each(['main/nowhere', 'nowhere/bin.dat', 'main', `main/${'a/'.repeat(3000)}a`])(
    'answers 404 to %.40s',
    async (path) => {
      expect((await visit(`/-/raw/${path}`)).status).toBe(404)
    },
  )
})

describe('/-/archive', () => {
  async function listed(path: string): Promise<string[]> {
    const answer = await visit(`/-/archive/${path}`)
    expect(answer.status).toBe(200)
    const { stdout } = await execa('tar', ['-tz'], { input: Buffer.from(await answer.arrayBuffer()) })
    return stdout.split('\n').map((line) => line.replace(/^[^/]*\//, ''))
  }

  test.each(['main.tar.gz', 'main/any-name.tar.gz', 'HEAD/x.tar.gz', 'rel/1.0/x.tar.gz'])(
    '%s holds the files of the commit',
    async (path) => {
      expect(await listed(path)).toContain('src/b c.txt')
    },
  )

  test('accepts branches with slashes, all formats, HEAD, and a folder', async () => {
    expect(await listed('feature/x.y.tar.gz')).toContain('side.txt')
    expect(await listed('feature/x.y/x.tar.gz?path=src')).toEqual(['', 'src/', 'src/b c.txt'])
    for (const [ending, type] of [
      ['zip', 'application/zip'],
      ['tar', 'application/octet-stream'],
      ['tar.bz2', 'application/octet-stream'],
    ]) {
      const head = await visit(`/-/archive/v1.0/sample.${ending}`, { method: 'HEAD' })
      expect([head.status, head.headers.get('content-type')]).toEqual([200, type])
      const name = `${open.path}-v1.0-${commits.second}.${ending}`
      expect(head.headers.get('content-disposition')).toContain(name)
    }
  })

  test.each([
    ['v1.0/sample-v1.0.tar.gz', 'sample-v1.0'],
    ['feature/x.y/sample-feature-x.y.tar.gz', 'sample-feature-x.y'],
    ['v1.0/sample-main.tar.gz', 'sample-v1.0-second'],
  ])('as %s is called %s, and so is its folder', async (path, expected) => {
    const name = expected.replace('sample', open.path).replace('second', commits.second)
    const answer = await visit(`/-/archive/${path.replace('sample', open.path)}`)
    expect(answer.headers.get('content-disposition')).toContain(`filename=${name}.tar.gz`)
    const { stdout } = await execa('tar', ['-tz'], { input: Buffer.from(await answer.arrayBuffer()) })
    expect(stdout.split('\n')[0]).toBe(`${name}/`)
  })

  test.each(['main', 'main.rar', 'nowhere.zip', 'main/a/b.zip', '.zip'])(
    'answers 404 to %s',
    async (path) => {
      expect((await visit(`/-/archive/${path}`)).status).toBe(404)
    },
  )
})

describe('/-/releases/…/downloads', () => {
  test.each(['rel/1.0', 'rel%2F1.0', 'permalink/latest'])(
    'of %s redirects to the address of the link',
    async (tag) => {
      for (const method of ['GET', 'HEAD']) {
        const answer = await visit(`/-/releases/${tag}/downloads/bin/tool`, { method })
        expect([answer.status, answer.headers.get('location')]).toEqual([
          302,
          'https://files.example.com/tool',
        ])
      }
      expect((await visit(`/-/releases/${tag}/downloads/bin/other`)).status).toBe(404)
    },
  )

  test("of a release are below the release's own address", async () => {
    const path = `/projects/${open.id}/releases/rel%2F1.0`
    const { body } = await harness.ask('anonymous', 'GET', path)
    expect(body._links.self).toBe(address(open, '/-/releases/rel%2F1.0'))
    const answer = await fetch(`${body._links.self}/downloads/bin/tool`, { redirect: 'manual' })
    expect(answer.status).toBe(302)
  })
})

const pages = ['/-/raw/main/bin.dat', '/-/archive/main.zip', '/-/releases/rel/1.0/downloads/bin/tool']

describe.each(pages)('%s of a private project', (path) => {
  test('needs the right to read, by token or by password', async () => {
    const basic = (who: keyof GitHarness['tokens']) => ({
      Authorization: `Basic ${Buffer.from(`any:${harness.tokens[who]}`).toString('base64')}`,
    })
    const expected = path.includes('releases') ? 302 : 200
    for (const headers of [basic('reporter'), { Authorization: `Bearer ${harness.tokens.reporter}` }]) {
      expect((await visit(path, { of: closed, headers })).status).toBe(expected)
    }
    expect((await visit(path, { of: closed, who: 'readsRepository' })).status).toBe(expected)
    expect((await visit(path, { of: closed, who: 'stranger' })).status).toBe(404)
    expect((await visit(path, { of: closed, headers: { 'PRIVATE-TOKEN': 'glpat-none' } })).status).toBe(401)
    const missing = { ...closed, pathWithNamespace: 'olga/none' }
    const [hidden, absent] = await Promise.all(
      [closed, missing].map(async (of) => (await visit(path, { of })).status),
    )
    expect([hidden, absent]).toEqual([404, 404])
  })

  test('redirects browsers without a session to the console, whether the project exists or not', async () => {
    const headers = { Accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }
    for (const of of [closed, { ...closed, pathWithNamespace: 'olga/none' }]) {
      const answer = await visit(path, { of, headers })
      expect(answer.status).toBe(302)
      expect(answer.headers.get('location')).toContain(`/console/projects/${of.pathWithNamespace}`)
    }
  })
})

describe('?go-get=1', () => {
  test.each(['', '/sub/folder', '/v2', '.git'])(
    'says where the repository of a module with "%s" is',
    async (rest) => {
      const answer = await visit(`${rest}?go-get=1`)
      const root = `${harness.baseUrl}/${open.pathWithNamespace}`
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
      expect(await answer.text()).toContain(
        `<meta name="go-import" content="${root.replace('http://', '')} git ${root}.git">`,
      )
      expect((await visit(`${rest}?go-get=1`, { method: 'HEAD' })).status).toBe(200)
    },
  )

  test('answers the same for a hidden and for a missing project', async () => {
    for (const path of [closed.pathWithNamespace, 'nobody/none']) {
      const answer = await fetch(`${harness.baseUrl}/${path}?go-get=1`)
      expect(await answer.text()).toContain(`${path} git `)
    }
  })

  test('answers for the requested host, too, where clients use another one', async () => {
    const other = await startGitHarness({ env: { EXTERNAL_URL: 'https://git.example.com' } })
    try {
      const text = await (await fetch(`${other.baseUrl}/olga/tool/v2?go-get=1`)).text()
      for (const host of ['git.example.com', new URL(other.baseUrl).host]) {
        expect(text).toContain(`content="${host}/olga/tool git https://git.example.com/olga/tool.git"`)
      }
    } finally {
      await other.close()
    }
  })

  test('is ignored at addresses where no project can be', async () => {
    expect((await fetch(`${harness.baseUrl}/api/none?go-get=1`)).status).toBe(404)
    expect((await fetch(`${harness.baseUrl}/a"b/c?go-get=1`)).status).toBe(404)
    expect((await visit('?go-get=0')).status).toBe(404)
  })
})
