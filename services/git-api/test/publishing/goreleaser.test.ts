import { createHash, randomBytes } from 'node:crypto'
import type { Project } from '@switchyard/db'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type GitHarness, pushSample, startGitHarness } from '../git-harness.js'

let harness: GitHarness
let project: Project
let sha: string

beforeAll(async () => {
  harness = await startGitHarness()
  const sample = await pushSample(harness)
  project = sample.project
  sha = sample.commits.third
  await sample.work.close()
})
afterAll(() => harness?.close())

interface Link {
  id: number
  name: string
  direct_asset_url: string
}

/** Calls the API as goreleaser's GitLab client does, with the encoded path of the project. */
async function call<Body = unknown>(
  method: string,
  path: string,
  body?: object | Uint8Array<ArrayBuffer> | FormData,
) {
  const url = `${harness.baseUrl}/api/v4${path.replace(':id', encodeURIComponent(project.pathWithNamespace))}`
  const isJson = body !== undefined && !(body instanceof FormData || body instanceof Uint8Array)
  const response = await fetch(url, {
    method,
    headers: {
      Accept: 'application/json',
      'PRIVATE-TOKEN': harness.tokens.developer,
      ...(isJson && { 'Content-Type': 'application/json' }),
      // Its client sends this type for every body except JSON.
      ...(body instanceof Uint8Array && { 'Content-Type': 'application/octet-stream' }),
    },
    ...(body !== undefined && {
      body: isJson ? JSON.stringify(body) : (body as NonNullable<RequestInit['body']>),
    }),
  })
  return { status: response.status, body: (await response.json()) as Body }
}

const artifacts = ['app_1.2.0_linux_amd64.tar.gz', 'app_1.2.0_windows_amd64.zip', 'checksums.txt'].map(
  (name) => ({
    name,
    bytes: randomBytes(3000),
  }),
)

/** Requests a release first; 403 and 404 mean that there is none. */
async function release(tag: string): Promise<void> {
  const path = `/projects/:id/releases/${tag}`
  const known = await call('GET', path)
  const texts = { name: tag, description: '## Changelog\n* abc1234 something' }
  const made =
    known.status === 404
      ? await call('POST', '/projects/:id/releases', { ...texts, ref: sha, tag_name: tag })
      : await call('PUT', path, texts)
  expect([200, 201]).toContain(made.status)
}

/** Adds a link. Its name is the name of the file, and its address is below the release. */
async function link(tag: string, name: string, url: string, pathField: 'filepath' | 'direct_asset_path') {
  const fields = { name, url, [pathField]: `/${name}` }
  return call('POST', `/projects/:id/releases/${tag}/assets/links`, fields)
}

async function expectDownloads(tag: string): Promise<void> {
  const { body } = await call<{ assets: { links: Link[] } }>('GET', `/projects/:id/releases/${tag}`)
  expect(body.assets.links).toHaveLength(artifacts.length)
  for (const { name, bytes } of artifacts) {
    const found = body.assets.links.find((each) => each.name === name)
    expect(found).toMatchObject({
      direct_asset_url: `${harness.baseUrl}/${project.pathWithNamespace}/-/releases/${tag}/downloads/${name}`,
      size: bytes.length,
      sha256: createHash('sha256').update(bytes).digest('hex'),
    })
    const answer = await fetch(found?.direct_asset_url ?? '', {
      headers: { 'PRIVATE-TOKEN': harness.tokens.reporter },
    })
    expect(Buffer.from(await answer.arrayBuffer()).equals(bytes)).toBe(true)
  }
}

test('goreleaser releases packages, and repeats it', async () => {
  const tag = 'v1.2.0'
  for (let run = 1; run <= 2; run += 1) {
    await release(tag)
    expect((await call<{ version: string }>('GET', '/version')).body.version).toMatch(/^\d+\./)
    for (const { name, bytes } of artifacts) {
      const path = `/projects/:id/packages/generic/app/1.2.0/${name}`
      expect((await call('PUT', path, bytes)).status).toBe(201)
      const url = `${harness.baseUrl}/api/v4${path.replace(':id', encodeURIComponent(project.pathWithNamespace))}`
      expect((await link(tag, name, url, 'direct_asset_path')).status).toBe(run === 1 ? 201 : 200)
    }
    expect(await call('GET', `/projects/:id/milestones?title=${tag}`)).toEqual({ status: 200, body: [] })
  }
  await expectDownloads(tag)
})

test('goreleaser releases uploads, and replaces the links of an earlier run', async () => {
  const tag = 'v1.3.0'
  for (let run = 1; run <= 2; run += 1) {
    await release(tag)
    for (const { name, bytes } of artifacts) {
      const form = new FormData()
      form.set('file', new Blob([bytes]), name)
      const uploaded = await call<{ full_path: string }>('POST', '/projects/:id/uploads', form)
      expect(uploaded.status).toBe(201)
      const url = `${harness.baseUrl}${uploaded.body.full_path}`
      const made = await link(tag, name, url, 'filepath')
      if (run === 1) expect(made.status).toBe(201)
      else {
        expect(made).toMatchObject({ status: 400, body: { message: { name: ['has already been taken'] } } })
        const links = `/projects/:id/releases/${tag}/assets/links`
        const before = (await call<Link[]>('GET', links)).body.find((each) => each.name === name)
        expect((await call('DELETE', `${links}/${before?.id}`)).status).toBe(200)
        expect((await link(tag, name, url, 'filepath')).status).toBe(201)
      }
    }
  }
  await expectDownloads(tag)
})
