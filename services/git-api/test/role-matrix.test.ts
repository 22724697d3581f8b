import {
  accessLevels,
  type Caller,
  decideProjectRight,
  type ProjectRight,
  projectRights,
  type Visibility,
} from '@switchyard/domain/access'
import { addMember, createUser } from '@switchyard/testing'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { routes } from '../src/routes.js'
import { type Harness, json, startHarness } from './harness.js'

/**
 * The right that every route below a project requires. Requests have no body, so 400 means that the guard has
 * admitted them.
 */
const rightOf: Record<string, ProjectRight> = {
  'GET /projects/:id': 'read_project',
  'GET /projects/:id/merge_requests': 'read_project',
  'POST /projects/:id/merge_requests': 'read_members',
  'GET /projects/:id/issues': 'read_project',
  'POST /projects/:id/issues': 'read_members',
  'GET /projects/:id/labels': 'read_project',
  'POST /projects/:id/labels': 'read_members',
  'GET /projects/:id/events': 'read_project',
  'GET /projects/:id/languages': 'read_code',
  'GET /projects/:id/users': 'read_members',
  'GET /projects/:id/milestones': 'read_project',
  'POST /projects/:id/milestones': 'read_members',
  'GET /projects/:id/deploy_keys': 'maintain',
  'POST /projects/:id/deploy_keys': 'maintain',
  'GET /projects/:id/variables': 'maintain',
  'POST /projects/:id/variables': 'maintain',
  'PUT /projects/:id': 'maintain',
  'DELETE /projects/:id': 'own',
  'GET /projects/:id/repository/commits': 'read_code',
  'POST /projects/:id/repository/commits': 'push_code',
  'GET /projects/:id/repository/commits/:sha': 'read_code',
  'POST /projects/:id/repository/commits/:sha/cherry_pick': 'push_code',
  'GET /projects/:id/repository/commits/:sha/diff': 'read_code',
  'GET /projects/:id/repository/commits/:sha/comments': 'read_code',
  'POST /projects/:id/repository/commits/:sha/comments': 'comment',
  'GET /projects/:id/repository/commits/:sha/statuses': 'read_statuses',
  'POST /projects/:id/statuses/:sha': 'write_statuses',
  'POST /projects/:id/statuses/:sha/report': 'write_statuses',
  'GET /projects/:id/statuses/:sha/report': 'read_statuses',
  'GET /projects/:id/statuses/:sha/reports': 'read_statuses',
  'GET /projects/:id/statuses/:sha/report_changes': 'read_statuses',
  'GET /projects/:id/repository/branches': 'read_code',
  'POST /projects/:id/repository/branches': 'push_code',
  'GET /projects/:id/repository/branches/:branch': 'read_code',
  'DELETE /projects/:id/repository/branches/:branch': 'push_code',
  'DELETE /projects/:id/repository/merged_branches': 'push_code',
  'PUT /projects/:id/repository/branches/:branch/protect': 'maintain',
  'PUT /projects/:id/repository/branches/:branch/unprotect': 'maintain',
  'GET /projects/:id/repository/tags': 'read_code',
  'POST /projects/:id/repository/tags': 'push_code',
  'GET /projects/:id/repository/tags/:tag_name': 'read_code',
  'DELETE /projects/:id/repository/tags/:tag_name': 'push_code',
  'GET /projects/:id/repository/tags/:tag_name/signature': 'read_code',
  'GET /projects/:id/repository/commits/:sha/refs': 'read_code',
  'GET /projects/:id/repository/commits/:sha/sequence': 'read_code',
  'POST /projects/:id/repository/commits/:sha/revert': 'push_code',
  'GET /projects/:id/repository/commits/:sha/signature': 'read_code',
  'GET /projects/:id/repository/commits/:sha/merge_requests': 'read_code',
  'GET /projects/:id/repository/commits/:sha/discussions': 'read_code',
  'GET /projects/:id/repository/commits/:sha/discussions/:discussion_id': 'read_code',
  'POST /projects/:id/repository/commits/:sha/discussions': 'comment',
  'GET /projects/:id/repository/commits/:sha/discussions/:discussion_id/notes': 'read_code',
  'POST /projects/:id/repository/commits/:sha/discussions/:discussion_id/notes': 'comment',
  'GET /projects/:id/repository/commits/:sha/discussions/:discussion_id/notes/:note_id': 'read_code',
  'PUT /projects/:id/repository/commits/:sha/discussions/:discussion_id/notes/:note_id': 'comment',
  'DELETE /projects/:id/repository/commits/:sha/discussions/:discussion_id/notes/:note_id': 'comment',
  'GET /projects/:id/repository/contributors': 'read_code',
  'GET /projects/:id/search': 'read_statuses',
  'GET /projects/:id/repository/changelog': 'read_code',
  'POST /projects/:id/repository/changelog': 'push_code',
  'PUT /projects/:id/repository/submodules/:submodule': 'push_code',
  'GET /projects/:id/repository/archive': 'read_code',
  'GET /projects/:id/repository/archive.:format': 'read_code',
  'GET /projects/:id/repository/blobs/:sha': 'read_code',
  'GET /projects/:id/repository/blobs/:sha/raw': 'read_code',
  'GET /projects/:id/repository/files/:file_path/blame': 'read_code',
  'GET /projects/:id/repository/compare': 'read_code',
  'GET /projects/:id/repository/merge_base': 'read_code',
  'GET /projects/:id/repository/tree': 'read_code',
  'GET /projects/:id/repository/files/:file_path': 'read_code',
  'GET /projects/:id/repository/files/:file_path/raw': 'read_code',
  'POST /projects/:id/repository/files/:file_path': 'push_code',
  'PUT /projects/:id/repository/files/:file_path': 'push_code',
  'DELETE /projects/:id/repository/files/:file_path': 'push_code',
  'POST /projects/:id/archive': 'own',
  'POST /projects/:id/unarchive': 'own',
  'GET /projects/:id/environments': 'read_deployments',
  'POST /projects/:id/environments': 'deploy',
  'POST /projects/:id/environments/stop_stale': 'maintain',
  'GET /projects/:id/environments/:environment_id': 'read_deployments',
  'PUT /projects/:id/environments/:environment_id': 'deploy',
  'POST /projects/:id/environments/:environment_id/stop': 'deploy',
  'DELETE /projects/:id/environments/:environment_id': 'deploy',
  'GET /projects/:id/deployments': 'read_deployments',
  'POST /projects/:id/deployments': 'deploy',
  'GET /projects/:id/deployments/:deployment_id': 'read_deployments',
  'PUT /projects/:id/deployments/:deployment_id': 'deploy',
  'DELETE /projects/:id/deployments/:deployment_id': 'maintain',
  'GET /projects/:id/deployments/:deployment_id/commits': 'read_deployments',
  'GET /projects/:id/deployments/:deployment_id/merge_requests': 'read_deployments',
  'POST /projects/:id/deployments/:deployment_id/approval': 'read_deployments',
  'GET /projects/:id/deployments/:deployment_id/impact': 'read_deployments',
  'POST /projects/:id/deployments/:deployment_id/impact/dismissal': 'deploy',
  'DELETE /projects/:id/deployments/:deployment_id/impact/dismissal': 'deploy',
  'GET /projects/:id/deployments/:deployment_id/change_failure': 'read_deployments',
  'POST /projects/:id/deployments/:deployment_id/change_failure': 'deploy',
  'DELETE /projects/:id/deployments/:deployment_id/change_failure': 'deploy',
  'GET /projects/:id/dora/metrics': 'read_deployments',
  'GET /projects/:id/dora/badge': 'read_deployments',
  'GET /projects/:id/impact_rules': 'maintain',
  'POST /projects/:id/impact_rules': 'maintain',
  'GET /projects/:id/impact_rules/:rule_id': 'maintain',
  'PUT /projects/:id/impact_rules/:rule_id': 'maintain',
  'DELETE /projects/:id/impact_rules/:rule_id': 'maintain',
  'GET /projects/:id/impact_rules/:rule_id/runs': 'maintain',
  'POST /projects/:id/impact_rules/:rule_id/runs/:run_id/revert': 'maintain',
  'GET /projects/:id/protected_environments': 'maintain',
  'POST /projects/:id/protected_environments': 'maintain',
  'GET /projects/:id/protected_environments/:name': 'maintain',
  'PUT /projects/:id/protected_environments/:name': 'maintain',
  'DELETE /projects/:id/protected_environments/:name': 'maintain',
  'GET /projects/:id/freeze_periods': 'read_deployments',
  'POST /projects/:id/freeze_periods': 'maintain',
  'GET /projects/:id/freeze_periods/:freeze_period_id': 'read_deployments',
  'PUT /projects/:id/freeze_periods/:freeze_period_id': 'maintain',
  'DELETE /projects/:id/freeze_periods/:freeze_period_id': 'maintain',
  'POST /projects/:id/members': 'maintain',
  'GET /projects/:id/members': 'read_members',
  'PUT /projects/:id/members/:user_id': 'maintain',
  'GET /projects/:id/members/all': 'read_members',
  'GET /projects/:id/members/all/:user_id': 'read_members',
  'GET /projects/:id/members/:user_id': 'read_members',
  'DELETE /projects/:id/members/:user_id': 'maintain',
  'POST /projects/:id/protected_branches': 'maintain',
  'GET /projects/:id/protected_branches': 'maintain',
  'GET /projects/:id/protected_branches/:name': 'maintain',
  'DELETE /projects/:id/protected_branches/:name': 'maintain',
  'PATCH /projects/:id/protected_branches/:name': 'maintain',
  'GET /projects/:id/protected_tags': 'maintain',
  'POST /projects/:id/protected_tags': 'maintain',
  'GET /projects/:id/protected_tags/:name': 'maintain',
  'DELETE /projects/:id/protected_tags/:name': 'maintain',
  'GET /projects/:id/releases': 'read_project',
  'POST /projects/:id/releases': 'push_code',
  'GET /projects/:id/releases/permalink/latest': 'read_project',
  'GET /projects/:id/releases/permalink/latest/*rest': 'read_project',
  'GET /projects/:id/releases/:tag_name': 'read_project',
  'PUT /projects/:id/releases/:tag_name': 'push_code',
  'DELETE /projects/:id/releases/:tag_name': 'push_code',
  'GET /projects/:id/releases/:tag_name/downloads/*file_path': 'read_project',
  'GET /projects/:id/releases/:tag_name/assets/links': 'read_project',
  'POST /projects/:id/releases/:tag_name/assets/links': 'push_code',
  'GET /projects/:id/releases/:tag_name/assets/links/:link_id': 'read_project',
  'PUT /projects/:id/releases/:tag_name/assets/links/:link_id': 'push_code',
  'DELETE /projects/:id/releases/:tag_name/assets/links/:link_id': 'push_code',
  'GET /projects/:id/packages': 'read_code',
  'PUT /projects/:id/packages/generic/:package_name/:package_version/*file_name': 'push_code',
  'GET /projects/:id/packages/generic/:package_name/:package_version/*file_name': 'read_code',
  'DELETE /projects/:id/packages/generic/:package_name/:package_version/*file_name': 'maintain',
  'GET /projects/:id/packages/:package_id': 'read_code',
  'DELETE /projects/:id/packages/:package_id': 'maintain',
  'GET /projects/:id/packages/:package_id/package_files': 'read_code',
  'DELETE /projects/:id/packages/:package_id/package_files/:package_file_id': 'maintain',
  'POST /projects/:id/uploads': 'comment',
  'GET /projects/:id/uploads': 'maintain',
  'GET /projects/:id/uploads/:upload_id': 'maintain',
  'DELETE /projects/:id/uploads/:upload_id': 'maintain',
  'GET /projects/:id/uploads/:secret/:filename': 'read_project',
  'DELETE /projects/:id/uploads/:secret/:filename': 'maintain',
  'GET /projects/:id/pipelines': 'read_code',
  'GET /projects/:id/pipelines/latest': 'read_code',
  'GET /projects/:id/pipelines/:pipeline_id': 'read_code',
  'GET /projects/:id/pipelines/:pipeline_id/jobs': 'read_code',
  'GET /projects/:id/pipelines/:pipeline_id/test_report': 'read_code',
  'GET /projects/:id/pipelines/:pipeline_id/test_report_summary': 'read_code',
  'GET /projects/:id/jobs': 'read_code',
  'GET /projects/:id/jobs/:job_id': 'read_code',
  'GET /projects/:id/jobs/:job_id/trace': 'read_code',
  'GET /projects/:id/pipelines/:pipeline_id/bridges': 'read_code',
  'GET /projects/:id/pipelines/:pipeline_id/variables': 'read_code',
  'POST /projects/:id/pipeline': 'push_code',
  'POST /projects/:id/pipelines/:pipeline_id/retry': 'push_code',
  'POST /projects/:id/pipelines/:pipeline_id/cancel': 'push_code',
  'DELETE /projects/:id/pipelines/:pipeline_id': 'own',
  'GET /projects/:id/access_tokens': 'maintain',
  'POST /projects/:id/access_tokens': 'maintain',
  'GET /projects/:id/access_tokens/:token_id': 'maintain',
  'DELETE /projects/:id/access_tokens/:token_id': 'maintain',
  'POST /projects/:id/access_tokens/:token_id/rotate': 'maintain',
  'GET /projects/:id/deploy_tokens': 'maintain',
  'POST /projects/:id/deploy_tokens': 'maintain',
  'GET /projects/:id/deploy_tokens/:token_id': 'maintain',
  'DELETE /projects/:id/deploy_tokens/:token_id': 'maintain',
  'GET /projects/:id/trusted_issuers': 'maintain',
  'POST /projects/:id/trusted_issuers': 'maintain',
  'GET /projects/:id/trusted_issuers/:trusted_issuer_id': 'maintain',
  'DELETE /projects/:id/trusted_issuers/:trusted_issuer_id': 'maintain',
  'GET /projects/:id/hooks': 'maintain',
  'POST /projects/:id/hooks': 'maintain',
  'POST /projects/:id/hooks/preview': 'maintain',
  'GET /projects/:id/hooks/:hook_id': 'maintain',
  'PUT /projects/:id/hooks/:hook_id': 'maintain',
  'DELETE /projects/:id/hooks/:hook_id': 'maintain',
  'PUT /projects/:id/hooks/:hook_id/custom_headers/:key': 'maintain',
  'DELETE /projects/:id/hooks/:hook_id/custom_headers/:key': 'maintain',
  'POST /projects/:id/hooks/:hook_id/test/:trigger': 'maintain',
  'GET /projects/:id/hooks/:hook_id/deliveries': 'maintain',
  'GET /projects/:id/hooks/:hook_id/deliveries/:delivery_id': 'maintain',
  'POST /projects/:id/hooks/:hook_id/deliveries/:delivery_id/redeliver': 'maintain',
  'GET /:namespace/:project/badges/main/pipeline.svg': 'read_code',
  'GET /:namespace/:project/badges/main/coverage.svg': 'read_code',
  'GET /:namespace/:project.git/info/refs?service=git-upload-pack': 'read_code',
  'GET /:namespace/:project.git/info/refs?service=git-receive-pack': 'push_code',
}

const visibilities = ['private', 'internal', 'public'] as const
const memberships = { ...accessLevels, 'non-member': null } as const
const people = ['anonymous', ...Object.keys(memberships), 'administrator'] as const

let harness: Harness
const projects = {} as Record<Visibility, { id: number }>
/** Tokens by caller; null: none. */
const secrets = { anonymous: null } as Record<string, string | null>

beforeAll(async () => {
  harness = await startHarness()
  secrets.administrator = harness.tokens.admin
  for (const visibility of visibilities) {
    const given = json({ path: visibility, visibility, initialize_with_readme: true })
    projects[visibility] = (await (await harness.send('owner', 'POST', '/projects', given)).json()) as {
      id: number
    }
  }
  for (const [name, level] of Object.entries(memberships)) {
    const user = await createUser(harness.database, { username: `matrix-${name}` })
    secrets[name] = await harness.secretOf(user)
    if (level === null) continue
    for (const project of Object.values(projects)) await addMember(harness.database, project, user, level)
  }
})
afterAll(() => harness?.close())

/** Returns the status that the role matrix requires; the numbers are those of GitLab. */
function expectedStatus(right: ProjectRight, visibility: Visibility, who: string): number {
  const caller = who === 'anonymous' ? null : ({ user: { id: -1, admin: who === 'administrator' } } as Caller)
  const access = { id: projects[visibility].id, ownerId: -2, visibility, archived: false }
  const sender = caller && { ...caller, token: { id: 1, scopes: ['api'] as const } }
  const level = memberships[who as keyof typeof memberships] ?? null
  const decision = decideProjectRight(right, access, sender, level)
  return { allowed: 200, unauthenticated: 401, hidden: 404, forbidden: 403 }[decision]
}

/**
 * Path parameters of missing resources, so that nothing changes. The text of a 404 tells whether the resource
 * or the project is missing.
 */
const missing = {
  sha: 'f'.repeat(40),
  user_id: '999999',
  environment_id: '999999',
  deployment_id: '999999',
  freeze_period_id: '999999',
  rule_id: '999999',
  run_id: '999999',
  name: 'no-such-branch',
  branch: 'no-such-branch',
  tag_name: 'no-such-tag',
  file_path: 'no-such-file',
  submodule: 'no-such-submodule',
  token_id: '999999',
  hook_id: '999999',
  trusted_issuer_id: '999999',
  link_id: '999999',
  pipeline_id: '999999',
  job_id: '999999',
  trigger: 'push_events',
  key: 'X-Key',
  discussion_id: 'f'.repeat(40),
  note_id: '999999',
  format: 'rar',
  upload_id: '999999',
  secret: '0'.repeat(32),
  filename: 'no-such-file',
  package_name: 'no-such-package',
  package_version: 'none',
  package_id: '999999',
  package_file_id: '999999',
  delivery_id: '00000000-0000-4000-8000-000000000000',
}

async function ask(endpoint: string, visibility: Visibility, who: string): Promise<number> {
  const [method = '', pattern = ''] = endpoint.split(' ')
  const url = pattern.startsWith('/:namespace')
    ? `${harness.baseUrl}${pattern.replace(':namespace/:project', `Owner/${visibility}`)}`
    : `${harness.baseUrl}/api/v4${pattern
        .replace(':id', String(projects[visibility].id))
        .replace(/:(\w+)/g, (_all, name: string) => missing[name as keyof typeof missing])}`
  const secret = secrets[who]
  const headers: Record<string, string> = secret ? { 'PRIVATE-TOKEN': secret } : {}
  const response = await fetch(url, { method, headers })
  const text = await response.text()
  if ([400, 200, 202, 405].includes(response.status)) return 200
  // The guard has admitted the request; nobody can find the missing resource.
  if (text.includes('Switchyard has no')) return 200
  return response.status === 404 && !text.includes('404 Project Not Found') ? 200 : response.status
}

it('the matrix lists every route below a project', () => {
  const guards = new Proxy({}, { get: () => () => undefined })
  const listed = routes({ guards, commitBodies: {}, build: {} } as Parameters<typeof routes>[0]).map(
    ({ method, path }) => `${method} ${path}`,
  )
  // A token that replaces itself needs its scope, whatever its role in the project is.
  const withoutRole = [
    'POST /projects/:id/access_tokens/self/rotate',
    // Routes for administrators: projects-of-users.test.ts and storages.test.ts.
    'POST /projects/:id/repository_storage_moves',
    'GET /projects/:id/repository_storage_moves',
    'GET /projects/:id/repository_storage_moves/:repository_storage_id',
  ]
  const below = listed.filter(
    (endpoint) => endpoint.includes(' /projects/:id') && !withoutRole.includes(endpoint),
  )
  const named = Object.keys(rightOf).filter((endpoint) => endpoint.includes(' /projects/:id'))
  expect(below.sort()).toEqual(named.sort())
  expect(new Set(Object.values(rightOf))).toEqual(new Set(Object.keys(projectRights)))
})

// The routes for owners come last, because they delete the project.
const endpoints = Object.entries(rightOf).sort(([, a], [, b]) => Number(a === 'own') - Number(b === 'own'))

it.each(endpoints)('%s requires %s', async (endpoint, right) => {
  for (const visibility of visibilities) {
    for (const who of people) {
      if (right === 'own' && expectedStatus(right, visibility, who) === 200) continue
      // git asks for a password wherever one may help.
      const git = endpoint.includes('.git/') && who === 'anonymous'
      const expected = expectedStatus(right, visibility, who)
      expect([visibility, who, await ask(endpoint, visibility, who)]).toEqual([
        visibility,
        who,
        git && expected !== 200 ? 401 : expected,
      ])
    }
  }
})

it.each(visibilities)('an owner deletes a %s project', async (visibility) => {
  expect(await ask('DELETE /projects/:id', visibility, 'owner')).toBe(200)
})
