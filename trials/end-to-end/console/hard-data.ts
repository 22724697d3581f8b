import type { Api } from '../../support/api.js'

/**
 * Returns 1,500 characters without blanks, with controls: one makes `gpj.exe` look like `exe.jpg`, others are
 * invisible.
 */
const long = (name: string) => `${name}-\u202e\u200b\u001b${'x'.repeat(1500)}`
const shorter = (name: string, length: number) => `${name}-\u202e${'x'.repeat(length)}`
const service = shorter('service', 100)

export interface HardData {
  sha: string
  sagaId: string
  hookId: number
}

/**
 * Stores user texts in every place with the greatest length, without blanks and with controls that reorder
 * text.
 */
export async function writeHardData(api: Api): Promise<HardData> {
  const user = await api<{ id: number }>('POST', '/users', {
    username: `hard-${'u'.repeat(200)}`,
    name: shorter('Name', 200),
    email: `hard@${'e'.repeat(60)}.example.com`,
  })
  await api('POST', `/users/${user.id}/personal_access_tokens`, {
    name: shorter('token', 200),
    scopes: ['api'],
  })
  await api('POST', '/broadcast_messages', {
    message: long('message'),
    starts_at: new Date(Date.now() - 1000).toISOString(),
    ends_at: new Date(Date.now() + 3_600_000).toISOString(),
    target_path: `/${'p'.repeat(200)}`,
  })
  const sagaId = await writeSagas(api)
  return { sagaId, ...(await writeProject(api, user.id)) }
}

async function writeSagas(api: Api): Promise<string> {
  const sagaId = shorter('saga', 100)
  const events = ['safe\u202egpj.exe', sagaId].flatMap((saga_id) => {
    const activity = { saga_id, activity_id: shorter(`${saga_id.slice(0, 4)}-activity`, 80) }
    return [
      { operation: 'SagaStarted', saga_id, service_name: 'hard', tags: [`key=${shorter('tag', 100)}`] },
      { operation: 'ActivityExecuteStarted', ...activity, parameter: { long: long('parameter') } },
      { operation: 'ActivityCompensateAborted', ...activity, errors: long('error') },
      { operation: 'SagaEnded', saga_id },
    ]
  })
  await api('POST', '/saga_events', {
    events: events.map((event, index) => ({ ...event, event_id: `hard-${index}` })),
  })
  await api('POST', `/sagas/${encodeURIComponent(sagaId)}/notes`, { body: long('note') })
  return sagaId
}

async function writeProject(api: Api, userId: number) {
  const project = '/projects/root%2Fhard'
  await api('POST', '/projects', { name: 'hard', description: shorter('description', 1900) })
  await api('POST', `${project}/members`, { user_id: userId, access_level: 30 })
  const commit = (file_path: string, content: string) =>
    api<{ id: string }>('POST', `${project}/repository/commits`, {
      branch: 'main',
      commit_message: `${long('title')}\n\n${long('body')}`,
      author_name: shorter('author', 200),
      author_email: 'author@example.com',
      actions: [{ action: 'create', file_path, content }],
    })
  await commit('README.md', `# ${long('heading')}\n\n${long('paragraph')}\n\n\`${long('code')}\`\n`)
  const { id: sha } = await commit(`src/${'f'.repeat(200)}.ts`, `${long('line')}\n`)
  await api('POST', `${project}/repository/branches`, { branch: `branch-${'b'.repeat(200)}`, ref: 'main' })
  await api('POST', `${project}/releases`, {
    tag_name: `tag-${'t'.repeat(200)}`,
    ref: 'main',
    name: shorter('release', 200),
    description: long('notes'),
    assets: { links: [{ name: shorter('asset', 200), url: 'https://example.com/asset' }] },
  })
  await api('POST', `${project}/statuses/${sha}`, {
    state: 'failed',
    name: shorter('status', 200),
    description: shorter('description', 200),
    ref: 'main',
  })
  await api('POST', `${project}/repository/commits/${sha}/comments`, { note: long('comment') })
  const environment = `env-${'e'.repeat(200)}`
  await api('POST', `${project}/environments`, {
    name: environment,
    description: shorter('description', 200),
    external_url: `https://example.com/${'u'.repeat(200)}`,
  })
  await api('POST', `${project}/deployments`, {
    environment,
    sha,
    ref: 'main',
    tag: false,
    status: 'running',
    services: [service],
  })
  const url = `https://example.com/${'h'.repeat(1500)}`
  const { id: hookId } = await api<{ id: number }>('POST', `${project}/hooks`, { url })
  await api('POST', `${project}/protected_branches`, { name: `${'q'.repeat(200)}*` })
  await api('POST', `${project}/deploy_tokens`, { name: shorter('deploy', 200), scopes: ['read_repository'] })
  return { sha, hookId }
}

/** Returns every page that shows these texts, by a name. */
export function hardAddresses({ sha, sagaId, hookId }: HardData): Record<string, string> {
  const project = '/projects/root/hard'
  const file = `src/${'f'.repeat(200)}.ts`
  return {
    overview: '/',
    sagas: '/sagas',
    saga: `/sagas/${encodeURIComponent(sagaId)}`,
    failures: '/failures',
    projects: '/projects',
    commits: project,
    commit: `${project}/commits/${sha}`,
    'commit-split': `${project}/commits/${sha}?view=split`,
    folder: `${project}/files/main/`,
    file: `${project}/files/main/${file}`,
    blame: `${project}/files/main/${file}?view=blame`,
    readme: `${project}/files/main/README.md?view=rendered`,
    'new-commit': `${project}/new-commit?ref=main&path=${encodeURIComponent(file)}`,
    branches: `${project}/branches`,
    compare: `${project}/compare?from=${encodeURIComponent(`branch-${'b'.repeat(200)}`)}&to=main`,
    pipelines: `${project}/pipelines`,
    pipeline: `${project}/pipelines/1`,
    deployments: `${project}/deployments`,
    releases: `${project}/releases`,
    settings: `${project}/settings?hook=${hookId}`,
    services: '/services',
    service: `/services/${encodeURIComponent(service)}`,
    broadcasts: '/broadcasts',
    'broadcast-editor': '/broadcasts?edit=1',
    users: '/admin/users',
    tokens: '/admin/tokens',
    audit: '/admin/audit',
    'sagas-filtered': `/sagas?q=${encodeURIComponent(shorter('nothing', 200))}&service=${'s'.repeat(200)}`,
    'not-found': `/projects/root/${'n'.repeat(500)}`,
  }
}
