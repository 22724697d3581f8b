import { expect } from 'vitest'
import type { Driver } from '../driver.js'
import { type Delivery, hookToken, receive } from '../receiver.js'
import type { LabProject, Work } from '../work.js'

const text = expect.stringMatching(/./)
const sha = expect.stringMatching(/^[0-9a-f]{40}$/)

/** Returns the delivery for a push of a single commit. */
async function pushed(work: Work, project: LabProject): Promise<Delivery> {
  const cwd = await work.clone(project)
  await work.write({ 'deploy/app.yaml': 'replicas: 2\n' }, cwd)
  await work.run('git', ['add', '.'], { cwd })
  await work.run('git', ['commit', '--quiet', '--message', 'Scale'], { cwd })
  const push = () => work.run('git', ['push', '--quiet'], { cwd })
  return await receive(work, project, 'push', { push_events: true }, push)
}

const gitlabHeaders = { 'x-gitlab-event': 'Push Hook', 'x-gitlab-token': hookToken }

/**
 * The fields that each receiver reads of a push, by the name of the receiver; without one of them, it neither
 * builds nor synchronizes.
 */
const demanded: { [receiver: string]: (work: Work, project: LabProject) => object } = {
  'Jenkins gitlab-plugin': ({ url }, { id, path }) => ({
    object_kind: 'push',
    user_name: text,
    before: sha,
    after: sha,
    checkout_sha: sha,
    ref: 'refs/heads/main',
    project_id: id,
    project: {
      git_ssh_url: expect.any(String),
      ssh_url: expect.any(String),
      git_http_url: `${url}/${path}.git`,
      http_url: `${url}/${path}.git`,
      web_url: `${url}/${path}`,
    },
    repository: { name: text, git_http_url: `${url}/${path}.git`, git_ssh_url: expect.any(String) },
    commits: [{ id: sha, message: text, author: { name: text, email: text } }],
  }),
  'Argo CD': ({ url }, { path }) => ({
    ref: 'refs/heads/main',
    project: { web_url: `${url}/${path}`, default_branch: 'main' },
    commits: [{ added: ['deploy/app.yaml'], modified: [], removed: [] }],
  }),
  'Flux, the receiver': () => ({ object_kind: 'push' }),
  'Tekton Triggers': ({ url }, { path }) => ({
    checkout_sha: sha,
    repository: { git_http_url: `${url}/${path}.git` },
    project: { git_http_url: `${url}/${path}.git` },
  }),
  Woodpecker: ({ url }, { id, path }) => ({
    ref: 'refs/heads/main',
    after: sha,
    user_username: 'lab',
    user_email: expect.any(String),
    user_avatar: null,
    project: {
      id,
      path_with_namespace: path,
      web_url: `${url}/${path}`,
      git_http_url: `${url}/${path}.git`,
      default_branch: 'main',
      visibility_level: 0,
    },
    commits: [{ id: sha, message: text, added: ['deploy/app.yaml'], author: { email: text } }],
  }),
}

export const webhookReceivers: Driver = {
  tool: 'Receivers of webhooks',
  version: async () => 'by the fields that they read',
  tasks: [
    ...Object.entries(demanded).map(([receiver, fieldsOf]) => ({
      title: `${receiver}: a push has every field`,
      run: async (work: Work) => {
        const project = await work.project()
        const { headers, body } = await pushed(work, project)
        expect(headers).toMatchObject(gitlabHeaders)
        expect(body).toMatchObject(fieldsOf(work, project))
      },
    })),
    {
      title: 'Jenkins gitlab-plugin, Tekton: a tag has every field',
      run: async (work) => {
        const project = await work.project()
        const given = { tag_name: 'v1', ref: 'main', message: 'One' }
        const tag = () => work.api('POST', `/projects/${project.id}/repository/tags`, given)
        const { headers, body } = await receive(work, project, 'tag_push', { tag_push_events: true }, tag)
        expect(headers).toMatchObject({ 'x-gitlab-event': 'Tag Push Hook', 'x-gitlab-token': hookToken })
        expect(body).toMatchObject({
          ref: 'refs/tags/v1',
          checkout_sha: sha,
          user_name: text,
          message: 'One',
        })
      },
    },
    {
      title: 'Flux, notification-controller: statuses are found by name, then posted',
      run: async (work) => {
        const project = await work.project()
        const list = `/projects/${project.id}/repository/commits/main/statuses?name=flux`
        expect(await work.api('GET', list)).toEqual([])
        const given = { name: 'flux', state: 'success', description: 'reconciled' }
        await work.api('POST', `/projects/${project.id}/statuses/main`, given)
        expect(await work.api('GET', list)).toMatchObject([{ name: 'flux', status: 'success' }])
      },
    },
  ],
}
