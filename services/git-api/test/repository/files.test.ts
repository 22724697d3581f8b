import { createHash, randomBytes } from 'node:crypto'
import type { Project } from '@switchyard/db'
import { createGitRepository, type TestGitRepository } from '@switchyard/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type GitHarness, startGitHarness } from '../git-harness.js'

const large = randomBytes(3 * 1024 * 1024)
let harness: GitHarness
let project: Project
let work: TestGitRepository
let first: string

beforeAll(async () => {
  harness = await startGitHarness()
  project = await harness.project()
  work = await createGitRepository()
  first = await work.commit({
    files: {
      'src/a.txt': 'abc',
      'src/ü ñ.txt': 'ünï',
      'src/deep/b.txt': 'b',
      'top.txt': 'top',
      'large.bin': large,
      'huge.bin': Buffer.alloc(33 * 1024 * 1024),
    },
  })
  await work.git('update-index', '--chmod=+x', 'top.txt')
  await work.git('update-index', '--add', '--cacheinfo', `160000,${first},vendor/sub`)
  await work.git('-c', 'user.name=T', '-c', 'user.email=t@example.com', 'commit', '--quiet', '-m', 'Second')
  await work.git('push', '--quiet', harness.remote('owner', project), 'main')
})
afterAll(async () => {
  await work?.close()
  await harness?.close()
})

const repository = (rest: string, of = project) => `/projects/${of.id}/repository/${rest}`
const file = (path: string, rest = '') => repository(`files/${encodeURIComponent(path)}${rest}`)

const ask: GitHarness['ask'] = (...request) => harness.ask(...request)

const raw = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  fetch(`${harness.baseUrl}/api/v4${path}`, {
    method,
    headers: { 'PRIVATE-TOKEN': harness.tokens.reporter, ...headers },
  })
const sha256 = (bytes: string | Buffer) => createHash('sha256').update(bytes).digest('hex')

describe('the tree', () => {
  const names = ({ body }: { body: { path: string; type: string }[] }) => body.map(({ path }) => path)

  test('has folders, files and submodules in this order, with the ids and modes of git', async () => {
    const { body } = await ask('reporter', 'GET', repository('tree'))
    expect(names({ body })).toEqual(['src', 'vendor', 'huge.bin', 'large.bin', 'top.txt'])
    for (const { path, id, mode, type, name } of body) {
      expect(await work.git('ls-tree', 'HEAD', path)).toBe(`${mode} ${type} ${id}\t${path}`)
      expect(name).toBe(path)
    }
    expect((await ask('reporter', 'GET', repository('tree?path=vendor'))).body).toEqual([
      { id: first, name: 'sub', type: 'commit', path: 'vendor/sub', mode: '160000' },
    ])
  })

  test('is listed below a folder, recursively, at another revision, and in pages with totals', async () => {
    expect(names(await ask('reporter', 'GET', repository('tree?path=src/')))).toEqual([
      'src/deep',
      'src/a.txt',
      'src/ü ñ.txt',
    ])
    const all = await ask('reporter', 'GET', repository('tree?recursive=true&per_page=100'))
    expect(names(all)).toHaveLength(10)
    expect(names(await ask('reporter', 'GET', repository(`tree?ref=${first}`)))).not.toContain('vendor')
    const page = await ask('reporter', 'GET', repository('tree?recursive=true&per_page=3&page=3'))
    expect(page.body).toHaveLength(3)
    expect(page.headers.get('x-total')).toBe('10')
    const none = await ask('reporter', 'GET', repository('tree?recursive=true&pagination=none&per_page=1'))
    expect(none.body).toHaveLength(10)
  })

  test('of a missing path is not found', async () => {
    const message = async (query: string, of = project) => {
      const { status, body } = await ask('developer', 'GET', repository(`tree?${query}`, of))
      expect(status).toBe(404)
      return body.message
    }
    expect(await message('ref=nope')).toBe('404 Tree Not Found')
    expect(await message('ref=--all')).toBe('404 Tree Not Found')
    expect(await message('path=nope')).toBe('404 invalid revision or path Not Found')
    expect(await message('path=top.txt')).toBe('404 invalid revision or path Not Found')
    expect(await message('path=../..')).toBe('404 invalid revision or path Not Found')
    expect(await message('', await harness.project())).toBe('404 Tree Not Found')
  })
})

describe('a file', () => {
  test('is read with its content and properties, which HEAD has as headers', async () => {
    const { status, body, headers } = await ask('reporter', 'GET', `${file('src/a.txt')}?ref=main`)
    expect(status).toBe(200)
    expect(body).toEqual({
      file_name: 'a.txt',
      file_path: 'src/a.txt',
      size: 3,
      encoding: 'base64',
      content_sha256: sha256('abc'),
      ref: 'main',
      blob_id: await work.git('rev-parse', 'HEAD:src/a.txt'),
      commit_id: await work.git('rev-parse', 'HEAD'),
      last_commit_id: first,
      execute_filemode: false,
      content: 'YWJj',
    })
    const head = await raw(`${file('src/ü ñ.txt')}?ref=main`, {}, 'HEAD')
    expect(head.status).toBe(200)
    expect(head.headers.get('x-gitlab-file-path')).toBe('src/%C3%BC %C3%B1.txt')
    expect(headers.get('x-gitlab-size')).toBe('3')
    expect((await ask('reporter', 'GET', `${file('top.txt')}?ref=main`)).body.execute_filemode).toBe(true)
  })

  test('is read raw: small and large, whole and in parts, and not again when the client has it', async () => {
    const text = await raw(file('src/ü ñ.txt', '/raw'))
    expect(await text.text()).toBe('ünï')
    expect(text.headers.get('content-type')).toBe('text/plain; charset=utf-8')
    expect(text.headers.get('x-content-type-options')).toBe('nosniff')
    const whole = await raw(file('large.bin', '/raw?ref=main'))
    expect(whole.headers.get('content-type')).toBe('application/octet-stream')
    expect(sha256(Buffer.from(await whole.arrayBuffer()))).toBe(sha256(large))
    for (const [range, start, end] of [
      ['bytes=0-9', 0, 10],
      ['bytes=2000000-2500000', 2_000_000, 2_500_001],
      ['bytes=-7', large.length - 7, large.length],
    ] as const) {
      const part = await raw(file('large.bin', '/raw'), { Range: range })
      expect(part.status).toBe(206)
      expect(part.headers.get('content-range')).toBe(`bytes ${start}-${end - 1}/${large.length}`)
      expect(Buffer.from(await part.arrayBuffer()).equals(large.subarray(start, end))).toBe(true)
    }
    const etag = whole.headers.get('etag') ?? ''
    expect((await raw(file('large.bin', '/raw'), { 'If-None-Match': etag })).status).toBe(304)
    const other = await raw(file('large.bin', '/raw'), { Range: 'bytes=0-9', 'If-Range': '"other"' })
    expect(other.status).toBe(200)
    await other.body?.cancel()
    expect((await raw(file('src/a.txt', '/raw'), { Range: 'bytes=10-' })).status).toBe(416)
    const head = await raw(file('large.bin', '/raw'), {}, 'HEAD')
    expect(head.headers.get('content-length')).toBe(String(large.length))
  })

  test('of more than 32 MB is sent raw, and its properties as headers', async () => {
    const refused = await ask('reporter', 'GET', `${file('huge.bin')}?ref=main`)
    expect(refused.status).toBe(413)
    expect(refused.body.message).toMatch(/ask for its raw content/)
    const head = await raw(`${file('huge.bin')}?ref=main`, {}, 'HEAD')
    expect(head.headers.get('x-gitlab-content-sha256')).toBe(sha256(Buffer.alloc(33 * 1024 * 1024)))
    const part = await raw(file('huge.bin', '/raw'), { Range: 'bytes=-5' })
    expect([part.status, (await part.arrayBuffer()).byteLength]).toEqual([206, 5])
  })

  test('that does not exist is not found, and a path out of the repository is refused', async () => {
    const refused = async (path: string, query: string) => {
      const { status, body } = await ask('reporter', 'GET', `${file(path)}?${query}`)
      return `${status} ${body.message ?? body.error}`
    }
    expect(await refused('nope.txt', 'ref=main')).toBe('404 404 File Not Found')
    expect(await refused('src', 'ref=main')).toBe('404 404 File Not Found')
    expect(await refused('vendor/sub', 'ref=main')).toBe('404 404 File Not Found')
    expect(await refused('top.txt', 'ref=nope')).toBe('404 404 Commit Not Found')
    expect(await refused('top.txt', '')).toBe('400 ref is missing')
    expect(await refused('../../etc/passwd', 'ref=main')).toBe('400 file_path should be a valid file path')
    expect((await raw(file('../x', '/raw'))).status).toBe(400)
  })

  test('is created, updated and deleted, each by one commit in the answer', async () => {
    const path = file('new/ö.txt')
    const change = { branch: 'main', commit_message: 'Write' }
    const made = await ask('developer', 'POST', path, { ...change, content: 'b25l', encoding: 'base64' })
    expect(made.status).toBe(201)
    expect(made.body).toMatchObject({ file_path: 'new/ö.txt', branch: 'main', content_sha256: sha256('one') })
    const known = made.body.last_commit_id
    const updated = await ask('developer', 'PUT', path, { ...change, content: 'two', last_commit_id: known })
    expect(updated.status).toBe(200)
    const stale = await ask('developer', 'PUT', path, { ...change, content: 'three', last_commit_id: known })
    expect(stale.status).toBe(400)
    expect(stale.body.message).toMatch(/has changed since you started editing it/)
    expect((await ask('reporter', 'GET', `${path}?ref=main`)).body).toMatchObject({
      content: Buffer.from('two').toString('base64'),
      last_commit_id: updated.body.commit_id,
    })
    expect(await ask('developer', 'DELETE', path, change)).toMatchObject({ status: 204, body: null })
    expect((await ask('reporter', 'GET', `${path}?ref=main`)).status).toBe(404)
  })

  test('is written with more than a megabyte of content', async () => {
    const body = { branch: 'large', start_branch: 'main', commit_message: 'Large', encoding: 'base64' }
    const answer = await ask('developer', 'POST', file('large/copy.bin'), {
      ...body,
      content: large.toString('base64'),
    })
    expect(answer).toMatchObject({ status: 201, body: { content_sha256: sha256(large) } })
    const copy = await raw(file('large/copy.bin', '/raw?ref=large'))
    expect(Buffer.from(await copy.arrayBuffer()).equals(large)).toBe(true)
  })

  test('has up to 200,000 lines of blame at once', async () => {
    const made = { branch: 'main', commit_message: 'Many lines', content: '\n'.repeat(200_001) }
    expect((await ask('developer', 'POST', file('lines.txt'), made)).status).toBe(201)
    const blame = async (query: string) => {
      const { status, body } = await ask('developer', 'GET', file('lines.txt', `/blame?ref=main${query}`))
      return status === 200 ? body[0].lines.length : [status, body.message]
    }
    const refusal = [413, 'The file has too many lines for blame']
    expect(await blame('')).toEqual(refusal)
    expect(await blame('&range[start]=1&range[end]=999999')).toEqual(refusal)
    expect(await blame('&range[start]=2&range[end]=999999')).toBe(200_000)
  })

  test('is not written with invalid parameters', async () => {
    const change = { branch: 'main', commit_message: 'm', content: 'x' }
    const refused = async (method: string, path: string, body: object) => {
      const { status, body: answer } = await ask('developer', method, file(path), body)
      return `${status} ${answer.message ?? answer.error}`
    }
    expect(await refused('POST', 'top.txt', change)).toBe('400 A file with this name already exists')
    expect(await refused('PUT', 'nope.txt', change)).toBe("400 A file with this name doesn't exist")
    expect(await refused('DELETE', 'nope.txt', change)).toBe("400 A file with this name doesn't exist")
    expect(await refused('POST', 'x.txt', { ...change, branch: 'nope' })).toBe(
      '400 You can only create or edit files when you are on a branch',
    )
    expect(await refused('POST', '../x.txt', change)).toBe('400 file_path should be a valid file path')
    expect(await refused('POST', 'x.txt', { branch: 'main', commit_message: 'm' })).toMatch(/^400 content /)
    expect(await refused('POST', 'x.txt', {})).toMatch(/^400 branch is missing, commit_message is missing/)
    expect(await refused('POST', '.git/config', change)).toMatch(/^400 invalid path/)
  })
})

test('needs the right to be read or written', async () => {
  const change = { branch: 'main', commit_message: 'm', content: 'x' }
  for (const url of [repository('tree'), `${file('top.txt')}?ref=main`, file('top.txt', '/raw')]) {
    expect((await ask('anonymous', 'GET', url)).status).toBe(404)
    expect((await ask('stranger', 'GET', url)).status).toBe(404)
    expect((await ask('guest', 'GET', url)).status).toBe(403)
  }
  for (const method of ['POST', 'PUT', 'DELETE']) {
    expect((await ask('reporter', method, file('x.txt'), change)).status).toBe(403)
    expect((await ask('anonymous', method, file('x.txt'), change)).status).toBe(401)
  }
})
