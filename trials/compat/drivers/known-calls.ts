import { openAsBlob } from 'node:fs'
import { expect } from 'vitest'
import type { Driver } from '../driver.js'
import { largeFileTask } from '../large-file.js'
import type { Work } from '../work.js'

/** Asks by the way that tools go, so that the call is recorded. */
async function call(work: Work, method: string, path: string, body?: object | string | Blob) {
  const isJson = typeof body === 'object' && !(body instanceof Blob)
  const answer = await fetch(`${work.url}/api/v4${path}`, {
    method,
    headers: { 'PRIVATE-TOKEN': work.token, ...(isJson && { 'Content-Type': 'application/json' }) },
    ...(body !== undefined && { body: isJson ? JSON.stringify(body) : body }),
  })
  const text = await answer.text()
  expect(answer.ok, `${method} ${path}: ${text}`).toBe(true)
  return text === '' ? null : JSON.parse(text)
}

/** Newer than what Debian 12 has, or of no package: their calls as their sources make them. */
export const pythonGitlab8: Driver = {
  tool: 'python-gitlab',
  version: async () => '8.4, by its calls',
  tasks: [
    {
      title: 'saves a protected branch, reads its own token',
      run: async (work) => {
        const { id } = await work.project()
        const branches = `/projects/${id}/protected_branches`
        await call(work, 'POST', branches, { name: 'release/*', push_access_level: 40 })
        const changed = await call(work, 'PATCH', `${branches}/release%2F%2A`, { allow_force_push: true })
        expect(changed.allow_force_push).toBe(true)
        expect((await call(work, 'GET', '/personal_access_tokens/self')).scopes).toEqual(['api'])
      },
    },
  ],
}

/** @returns the address of the file behind the release */
async function goRelease(work: Work, file: string | Blob): Promise<string> {
  const { id } = await work.project()
  const project = `/projects/${id}`
  await work.api('POST', `${project}/repository/tags`, { tag_name: 'v1.0.0', ref: 'main' })
  const given = { name: 'v1.0.0', tag_name: 'v1.0.0', description: 'First', ref: 'main' }
  await call(work, 'POST', `${project}/releases`, given)
  const place = `${project}/packages/generic/app/1.0.0/app.tar.gz`
  await call(work, 'PUT', place, file)
  const link = { name: 'app.tar.gz', url: `${work.url}/api/v4${place}`, filepath: '/app.tar.gz' }
  await call(work, 'POST', `${project}/releases/v1.0.0/assets/links`, link)
  await call(work, 'PUT', `${project}/releases/v1.0.0`, { description: 'First, with a file' })
  expect(await call(work, 'GET', `${project}/milestones?title=v1.0.0`)).toEqual([])
  const release = await work.api('GET', `${project}/releases/v1.0.0`)
  return release.assets.links[0].direct_asset_url
}

export const goreleaser: Driver = {
  tool: 'goreleaser',
  version: async () => 'by its calls',
  tasks: [
    {
      title: 'releases with a file as a generic package',
      run: async (work) => {
        const answer = await fetch(await goRelease(work, 'bytes'), {
          headers: { 'PRIVATE-TOKEN': work.token },
        })
        expect(await answer.text()).toBe('bytes')
      },
    },
    largeFileTask('releases with a generic package', async (work, { path, expectAt }) =>
      expectAt(await goRelease(work, await openAsBlob(path))),
    ),
  ],
}
