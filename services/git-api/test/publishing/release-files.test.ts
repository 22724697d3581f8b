import { createHash, randomBytes } from 'node:crypto'
import type { Project } from '@switchyard/db'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type GitHarness, pushSample, startGitHarness } from '../git-harness.js'

let harness: GitHarness
let project: Project
const bytes = randomBytes(5000)
const packagePath = '/packages/generic/app/1.0/linux/app.zip'
let uploaded: { url: string; full_path: string }

beforeAll(async () => {
  harness = await startGitHarness()
  const sample = await pushSample(harness)
  project = sample.project
  await sample.work.close()
  const api = `${harness.baseUrl}/api/v4/projects/${project.id}`
  const headers = { 'PRIVATE-TOKEN': harness.tokens.developer }
  await fetch(api + packagePath, { method: 'PUT', headers, body: bytes })
  const form = new FormData()
  form.set('file', new Blob([bytes]), 'shot.png')
  const answer = await fetch(`${api}/uploads`, { method: 'POST', headers, body: form })
  uploaded = (await answer.json()) as typeof uploaded
  const release = { tag_name: 'v1.0', description: 'Files' }
  expect((await harness.ask('developer', 'POST', `/projects/${project.id}/releases`, release)).status).toBe(
    201,
  )
})
afterAll(() => harness?.close())

let links = 0

/** Adds a link to the release. @returns its path in the release, and the link */
async function linkTo(url: string) {
  links += 1
  const direct_asset_path = `/bin/file-${links}`
  const link = { name: `File ${links}`, url, direct_asset_path }
  const made = await harness.ask(
    'developer',
    'POST',
    `/projects/${project.id}/releases/v1.0/assets/links`,
    link,
  )
  expect(made.status).toBe(201)
  return { path: direct_asset_path, link: made.body as { id: number; direct_asset_url: string } }
}

const get = (url: string, who: keyof GitHarness['tokens'] | null, headers: Record<string, string> = {}) =>
  fetch(url, {
    redirect: 'manual',
    headers: { ...(who && { 'PRIVATE-TOKEN': harness.tokens[who] }), ...headers },
  })

const addresses = (): [string, string][] => {
  const { baseUrl } = harness
  const encoded = encodeURIComponent(project.pathWithNamespace)
  return [
    ['a package by id', `${baseUrl}/api/v4/projects/${project.id}${packagePath}`],
    ['a package by path', `${baseUrl}/api/v4/projects/${encoded}/packages/generic/app/1.0/linux%2Fapp.zip`],
    ['an upload', `${baseUrl}${uploaded.full_path}`],
    ['an upload below the project', `${baseUrl}/${project.pathWithNamespace.toUpperCase()}${uploaded.url}`],
    ['an upload of the API', `${baseUrl}/api/v4/projects/${project.id}${uploaded.url}`],
  ]
}

test.each([0, 1, 2, 3, 4])('a link to a file of the project sends its bytes: address %i', async (index) => {
  const [, url = ''] = addresses()[index] ?? []
  const { path, link } = await linkTo(url)
  for (const address of [
    link.direct_asset_url,
    `${harness.baseUrl}/api/v4/projects/${project.id}/releases/v1.0/downloads${path}`,
    `${harness.baseUrl}/${project.pathWithNamespace}/-/releases/permalink/latest/downloads${path}`,
  ]) {
    const whole = await get(address, 'reporter')
    expect([whole.status, Buffer.from(await whole.arrayBuffer()).equals(bytes)]).toEqual([200, true])
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    expect(Object.fromEntries(whole.headers)).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-disposition': expect.stringContaining('attachment'),
      'content-security-policy': "default-src 'none'; sandbox",
      'x-checksum-sha256': sha256,
      etag: `"${sha256}"`,
    })
    const part = await get(address, 'reporter', { Range: 'bytes=10-19' })
    expect(part.status).toBe(206)
    expect(Buffer.from(await part.arrayBuffer()).equals(bytes.subarray(10, 20))).toBe(true)
    expect((await get(address, 'reporter', { 'If-None-Match': `"${sha256}"` })).status).toBe(304)
    expect((await get(address, 'stranger')).status).toBe(404)
    expect((await get(address, null)).status).toBe(404)
  }
})

test('links show the size and the hash of files that the caller may read', async () => {
  const [, packageUrl = ''] = addresses()[0] ?? []
  const { link } = await linkTo(`${packageUrl}?sized`)
  const upload = (await linkTo(`${harness.baseUrl}${uploaded.full_path}?sized`)).link
  const others = [
    'https://example.com/app.zip',
    `${packageUrl}.gone`,
    `${harness.baseUrl}/api/v4/projects/${project.id}/packages/generic/app/1.0/a%00b`,
    `${harness.baseUrl}/-/project/${project.id}/uploads/${'1'.repeat(32)}/shot.png`,
  ]
  const without = await Promise.all(others.map(async (url) => (await linkTo(url)).link.id))
  const file = { size: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') }
  const release = `/projects/${project.id}/releases/v1.0`
  expect(link).toMatchObject(file)
  type Link = { id: number; sha256?: string }
  const linksFor = async (who: Parameters<typeof harness.ask>[0]) =>
    ((await harness.ask(who, 'GET', release)).body as { assets: { links: Link[] } }).assets.links
  const of = (links: Link[], id: number) => links.find((each) => each.id === id)
  const forReporter = await linksFor('reporter')
  expect(of(forReporter, link.id)).toMatchObject(file)
  expect(of(forReporter, upload.id)).toMatchObject(file)
  for (const id of without) expect(of(forReporter, id)).not.toHaveProperty('sha256')
  const forGuest = await linksFor('guest')
  expect(of(forGuest, link.id)).not.toHaveProperty('sha256')
  expect(of(forGuest, upload.id)).toMatchObject(file)
  const one = await harness.ask('reporter', 'GET', `${release}/assets/links/${link.id}`)
  expect(one.body).toMatchObject(file)
})

test('a link to a file with an impossible name is not found', async () => {
  const { link } = await linkTo(
    `${harness.baseUrl}/api/v4/projects/${project.id}/packages/generic/app/1.0/x%00y`,
  )
  expect((await get(link.direct_asset_url, 'reporter')).status).toBe(302)
})

test('a link to any other address is a redirect', async () => {
  const other = await harness.project()
  for (const url of [
    'https://example.com/api/v4/projects/1/packages/generic/app/1.0/linux/app.zip',
    `${harness.baseUrl}/api/v4/projects/${other.id}${packagePath}`,
    `${harness.baseUrl}/-/project/${other.id}${uploaded.url}`,
    `${harness.baseUrl}/api/v4/projects/${project.id}/packages/generic/app`,
    `${harness.baseUrl}/${project.pathWithNamespace}/-/raw/main/a.txt`,
    `${harness.baseUrl}/%E0%A4%A`,
    'ftp://example.com/app.zip',
  ]) {
    const { link } = await linkTo(url)
    const answer = await get(link.direct_asset_url, 'reporter')
    expect([answer.status, answer.headers.get('location')]).toEqual([302, url])
  }
})

test('a guest can read uploads, and no more of packages than elsewhere', async () => {
  const [, packageUrl = ''] = addresses()[0] ?? []
  const { link } = await linkTo(`${packageUrl}?guest`)
  const answer = await get(link.direct_asset_url, 'guest')
  expect([answer.status, answer.headers.get('location')]).toEqual([302, `${packageUrl}?guest`])
  expect((await get(packageUrl, 'guest')).status).toBe(403)
  const upload = await linkTo(`${harness.baseUrl}${uploaded.full_path}?guest`)
  expect((await get(upload.link.direct_asset_url, 'guest')).status).toBe(200)
})

test('a deleted file is not found', async () => {
  const { link } = await linkTo(`${harness.baseUrl}/-/project/${project.id}/uploads/${'0'.repeat(32)}/a.zip`)
  expect((await get(link.direct_asset_url, 'reporter')).status).toBe(404)
})
