import { administrator, type Route, route, signedIn } from '@switchyard/service-kit/http'
import type { Dependencies } from '../dependencies.js'
import { getAuditEvent } from './audit-events/get-audit-event.js'
import { listAuditEvents } from './audit-events/list-audit-events.js'
import { branchRoutes } from './branches/index.js'
import { commentRoutes } from './comments/index.js'
import { commitRoutes } from './commits/index.js'
import { compare } from './compare/compare.js'
import { getMergeBase } from './compare/get-merge-base.js'
import { documentationRoutes } from './documentation/index.js'
import { fileRoutes } from './files/index.js'
import { getVersion } from './get-version.js'
import { gitHttpRoutes } from './git-http/index.js'
import { hookRoutes } from './hooks/index.js'
import { createMember } from './members/create-member.js'
import { deleteMember } from './members/delete-member.js'
import { getMember } from './members/get-member.js'
import { listMembers } from './members/list-members.js'
import { updateMember } from './members/update-member.js'
import { projectTokenRoutes } from './project-tokens/index.js'
import { createProject } from './projects/create-project.js'
import { deleteProject } from './projects/delete-project.js'
import { getProject } from './projects/get-project.js'
import { listProjects } from './projects/list-projects.js'
import { updateProject } from './projects/update-project.js'
import { createProtectedBranch } from './protected-branches/create-protected-branch.js'
import { deleteProtectedBranch } from './protected-branches/delete-protected-branch.js'
import { getProtectedBranch } from './protected-branches/get-protected-branch.js'
import { listProtectedBranches } from './protected-branches/list-protected-branches.js'
import { statusRoutes } from './statuses/index.js'
import { tagRoutes } from './tags/index.js'
import { tokenRoutes } from './tokens/index.js'
import { listTreeEndpoint } from './tree/list-tree.js'
import { userRoutes } from './users/index.js'

/** Everything this service answers: method, path, who may, what happens. */
export function routes(deps: Dependencies): Route[] {
  const { readProject, readCode, maintain, own } = deps.guards
  return [
    // Express tries one after the other: what pipelines ask for most comes first.
    ...commitRoutes(deps),
    ...statusRoutes(deps),
    ...branchRoutes(deps),
    ...tagRoutes(deps),
    ...fileRoutes(deps),
    route('GET', '/projects/:id/repository/compare', readCode, compare(deps)),
    route('GET', '/projects/:id/repository/merge_base', readCode, getMergeBase(deps)),
    route('GET', '/projects/:id/repository/tree', readCode, listTreeEndpoint(deps)),

    route('GET', '/version', signedIn, getVersion),
    ...documentationRoutes(),

    ...userRoutes(deps),
    ...tokenRoutes(deps),

    route('POST', '/projects', signedIn, createProject(deps)),
    route('GET', '/projects', signedIn, listProjects(deps)),
    route('GET', '/projects/:id', readProject, getProject(deps)),
    route('PUT', '/projects/:id', maintain, updateProject(deps)),
    route('DELETE', '/projects/:id', own, deleteProject(deps)),

    route('POST', '/projects/:id/members', maintain, createMember(deps)),
    route('GET', '/projects/:id/members', maintain, listMembers(deps)),
    route('GET', '/projects/:id/members/all', maintain, listMembers(deps)),
    route('GET', '/projects/:id/members/all/:user_id', maintain, getMember(deps)),
    route('GET', '/projects/:id/members/:user_id', maintain, getMember(deps)),
    route('PUT', '/projects/:id/members/:user_id', maintain, updateMember(deps)),
    route('DELETE', '/projects/:id/members/:user_id', maintain, deleteMember(deps)),

    route('POST', '/projects/:id/protected_branches', maintain, createProtectedBranch(deps)),
    route('GET', '/projects/:id/protected_branches', maintain, listProtectedBranches(deps)),
    route('GET', '/projects/:id/protected_branches/:name', maintain, getProtectedBranch(deps)),
    route('DELETE', '/projects/:id/protected_branches/:name', maintain, deleteProtectedBranch(deps)),

    ...projectTokenRoutes(deps),
    ...hookRoutes(deps),

    route('GET', '/audit_events', administrator, listAuditEvents(deps)),
    route('GET', '/audit_events/:id', administrator, getAuditEvent(deps)),

    ...commentRoutes(deps),
    ...gitHttpRoutes(deps),
  ]
}
