import { afterAll, beforeAll, expect, it } from 'vitest'
import { type GitHarness, pushSample, startGitHarness } from './git-harness.js'

let harness: GitHarness
let sample: Awaited<ReturnType<typeof pushSample>>
beforeAll(async () => {
  harness = await startGitHarness()
  sample = await pushSample(harness)
})
afterAll(async () => {
  await sample?.work.close()
  await harness?.close()
})

/** The header that browsers send when they navigate. */
const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/webp,*/*;q=0.8'
const visit = async (url: string, Accept = browser) => {
  const response = await fetch(new URL(url, harness.baseUrl), { headers: { Accept }, redirect: 'manual' })
  return {
    status: response.status,
    location: response.headers.get('Location'),
    vary: response.headers.get('Vary'),
  }
}
const leadsTo = (location: string) => ({ status: 302, location, vary: expect.stringContaining('Accept') })

it.each([
  ['/', '/console/'],
  ['/ada/engine', '/console/projects/ada/engine'],
  ['/ada/engine/', '/console/projects/ada/engine'],
  ['/ada/engine.git', '/console/projects/ada/engine'],
  ['/root', '/console/projects?q=root'],
  ['/ada/engine/-/commit/abc', '/console/projects/ada/engine/commits/abc'],
  ['/ada/engine/-/tree/feature%2Fx/docs', '/console/projects/ada/engine/files/feature%2Fx/docs'],
  ['/ada/engine/-/blob/main/a%20b/c.md?plain=1', '/console/projects/ada/engine/files/main/a%20b/c.md'],
  ['/ada/engine/-/tags', '/console/projects/ada/engine/branches'],
  ['/ada/engine/-/releases/v1.0', '/console/projects/ada/engine/releases'],
  ['/ada/engine/-/pipelines', '/console/projects/ada/engine/pipelines'],
  ['/ada/engine/-/pipelines/7', '/console/projects/ada/engine/pipelines/7'],
  ['/ada/engine/-/unknown/page', '/console/projects/ada/engine'],
])('a browser that visits %s is led to %s, whether or not it exists', async (address, location) => {
  expect(await visit(address)).toEqual(leadsTo(location))
  expect(await visit(address, 'text/html')).toEqual(leadsTo(location))
})

it('the web addresses in answers lead to the console', async () => {
  const of = async (path: string) => (await harness.ask('developer', 'GET', path)).body
  const { project, commits } = sample
  const id = `/projects/${project.id}`
  const page = `/console/projects/${project.pathWithNamespace}`
  await harness.ask('developer', 'POST', `${id}/repository/branches`, { branch: 'web/address', ref: 'main' })
  const expected: [string, string][] = [
    [(await of(id)).web_url, page],
    [(await of(`${id}/repository/commits/${commits.first}`)).web_url, `${page}/commits/${commits.first}`],
    [(await of(`${id}/repository/branches/web%2Faddress`)).web_url, `${page}/files/web%2Faddress`],
    [
      (await of(`${id}/repository/compare?from=main&to=web%2Faddress`)).web_url,
      `${page}/compare?from=main&to=web%2Faddress`,
    ],
    [(await of('/user')).web_url, `/console/projects?q=${(await of('/user')).username}`],
  ]
  for (const [address, location] of expected) expect(await visit(address)).toEqual(leadsTo(location))
})

it("the first path segments of the service's own addresses belong to no user", async () => {
  for (const address of [
    '/api',
    '/api/v4',
    '/console',
    '/console/projects',
    '/assets/a.js',
    '/-/unknown',
    '/API/v4',
  ])
    expect(await visit(address)).toMatchObject({ status: 404, location: null })
})

it('clients that do not prefer HTML get the usual answers', async () => {
  for (const Accept of ['*/*', 'application/json', 'application/json, text/html'])
    for (const address of ['/', '/ada', '/ada/engine', '/ada/engine/-/commit/abc'])
      expect(await visit(address, Accept)).toMatchObject({ status: 404, location: null })
  expect((await visit('/api/v4/version')).status).toBe(401)
  expect((await visit('/ada/engine.git/info/refs?service=git-upload-pack')).status).toBe(401)
  const posted = await fetch(`${harness.baseUrl}/ada/engine`, {
    method: 'POST',
    headers: { Accept: browser },
  })
  expect(posted.status).toBe(404)
})
