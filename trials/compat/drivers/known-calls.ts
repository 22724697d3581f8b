import { openAsBlob } from 'node:fs'
import { expect } from 'vitest'
import type { Driver } from '../driver.js'
import { largeFileTask } from '../large-file.js'
import type { Work } from '../work.js'

/** Sends a request through the recorder, like tools do. */
async function call(work: Work, method: string, path: string, body?: object | string | Blob) {
  const isJson = typeof body === 'object' && !(body instanceof Blob || body instanceof FormData)
  const answer = await fetch(`${work.url}/api/v4${path}`, {
    method,
    headers: { 'PRIVATE-TOKEN': work.token, ...(isJson && { 'Content-Type': 'application/json' }) },
    ...(body !== undefined && { body: isJson ? JSON.stringify(body) : body }),
  })
  const text = await answer.text()
  expect(answer.ok, `${method} ${path}: ${text}`).toBe(true)
  return text === '' ? null : JSON.parse(text)
}

/** Tools that are newer than in Debian 12, or in no package: their requests are made as in their sources. */
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

/** @returns the address of the file of the release */
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

export const pythonSemanticRelease: Driver = {
  tool: 'python-semantic-release',
  version: async () => 'by its calls',
  tasks: [
    {
      title: 'makes a release of its tag, and edits the notes',
      run: async (work) => {
        const { id, path } = await work.project()
        await work.api('POST', `/projects/${id}/repository/tags`, { tag_name: 'v1.0.0', ref: 'main' })
        const releases = `/projects/${encodeURIComponent(path)}/releases`
        const given = { name: 'v1.0.0', tag_name: 'v1.0.0', description: 'First' }
        await call(work, 'POST', releases, { ...given, tag_message: 'v1.0.0' })
        expect(await call(work, 'GET', `${releases}/v1.0.0`)).toMatchObject(given)
        await call(work, 'PUT', `${releases}/v1.0.0`, { description: 'Edited' })
        expect((await call(work, 'GET', `${releases}/v1.0.0`)).description).toBe('Edited')
      },
    },
  ],
}

const marker = '[//]: <> (of-the-cost-report)'

export const infracost: Driver = {
  tool: 'infracost comment',
  version: async () => 'by its calls',
  tasks: [
    {
      title: 'comments on a commit, and updates its comment',
      run: async (work) => {
        const { id } = await work.project()
        const discussions = `/projects/${id}/repository/commits/main/discussions`
        await call(work, 'POST', discussions, { body: `${marker}\n+1` })
        const found = await call(work, 'GET', `${discussions}?per_page=100`)
        const [{ id: discussion, notes }] = found
        expect(notes[0].body).toContain(marker)
        const note = `${discussions}/${discussion}/notes/${notes[0].id}`
        expect((await call(work, 'PUT', note, { body: `${marker}\n+2` })).body).toBe(`${marker}\n+2`)
        await call(work, 'DELETE', note)
        expect(await call(work, 'GET', discussions)).toEqual([])
      },
    },
  ],
}

export const glab: Driver = {
  tool: 'glab',
  version: async () => 'by its calls',
  tasks: [
    {
      title: 'writes the notes of a version (`changelog generate`)',
      run: async (work) => {
        const project = await work.project()
        await work.commit(project, { 'a.txt': 'a' }, 'Add a file\n\nChangelog: added')
        const path = `/projects/${encodeURIComponent(project.path)}/repository/changelog`
        const { notes } = await call(work, 'GET', `${path}?version=1.0.0&trailer=Changelog`)
        expect(notes).toContain('### added (1 change)')
      },
    },
    {
      title: 'makes a release with an uploaded file (`release create`), lists pipelines and jobs',
      run: async (work) => {
        const { id } = await work.project()
        const project = `/projects/${id}`
        const form = new FormData()
        form.set('file', new Blob(['bytes']), 'app.bin')
        const { full_path } = await call(work, 'POST', `${project}/uploads`, form)
        await call(work, 'POST', `${project}/releases`, { tag_name: 'v1', ref: 'main', name: 'v1' })
        const link = { name: 'app.bin', url: `${work.url}${full_path}` }
        await call(work, 'POST', `${project}/releases/v1/assets/links`, link)
        expect((await call(work, 'GET', `${project}/releases/v1`)).assets.links).toMatchObject([link])
        await call(work, 'POST', `${project}/statuses/main`, { state: 'success', name: 'build' })
        const [pipeline] = await call(work, 'GET', `${project}/pipelines?ref=main`)
        const [job] = await call(work, 'GET', `${project}/pipelines/${pipeline.id}/jobs`)
        expect(job).toMatchObject({ name: 'build', status: 'success' })
      },
    },
  ],
}

export const pipelinesExporter: Driver = {
  tool: 'gitlab-ci-pipelines-exporter',
  version: async () => 'by its calls',
  tasks: [
    {
      title: 'reads pipelines, their jobs, tests and children',
      run: async (work) => {
        const { id } = await work.project()
        await work.api('POST', `/projects/${id}/statuses/main`, { state: 'success', name: 'build' })
        expect((await call(work, 'GET', '/metadata')).version).toMatch(/^\d/)
        const { id: user } = await call(work, 'GET', '/user')
        expect((await call(work, 'GET', `/users/${user}/projects`)).length).toBeGreaterThan(0)
        expect(await call(work, 'GET', `/projects/${id}/merge_requests?state=opened`)).toEqual([])
        const [{ id: pipeline }] = await call(work, 'GET', `/projects/${id}/pipelines?ref=main`)
        const path = `/projects/${id}/pipelines/${pipeline}`
        expect(await call(work, 'GET', `${path}/jobs`)).toMatchObject([{ name: 'build' }])
        for (const part of ['bridges', 'variables'])
          expect(await call(work, 'GET', `${path}/${part}`)).toEqual([])
        expect((await call(work, 'GET', `${path}/test_report`)).total_count).toBe(0)
      },
    },
  ],
}

export const teamCity: Driver = {
  tool: 'TeamCity commit-status-publisher',
  version: async () => 'by its calls',
  tasks: [
    {
      title: 'finds out whether it may, and posts the status of a commit',
      run: async (work) => {
        const { path } = await work.project()
        const project = `/projects/${encodeURIComponent(path)}`
        const { permissions } = await call(work, 'GET', project)
        expect(permissions.project_access.access_level).toBeGreaterThanOrEqual(30)
        const { id } = await call(work, 'GET', `${project}/repository/commits/main`)
        const given = { name: 'Build', state: 'running', target_url: 'https://ci.example.com/1' }
        await call(work, 'POST', `${project}/statuses/${id}`, given)
        await call(work, 'POST', `${project}/statuses/${id}`, { ...given, state: 'success' })
        const statuses = await call(work, 'GET', `${project}/repository/commits/${id}/statuses`)
        expect(statuses).toMatchObject([{ name: 'Build', status: 'success' }])
      },
    },
  ],
}
