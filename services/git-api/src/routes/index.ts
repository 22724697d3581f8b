import { administrator, type Route, route, signedIn } from '@switchyard/service-kit/http'
import type { Dependencies } from '../dependencies.js'
import { archiveRoutes } from './archive.js'
import { auditEventRoutes } from './audit-events.js'
import { badgeRoutes } from './badges.js'
import { betweenStoragesRoutes } from './between-storages.js'
import { blobRoutes } from './blobs.js'
import { branchRoutes } from './branches/index.js'
import { commentRoutes } from './comments.js'
import { commitRoutes } from './commits/index.js'
import { compare } from './compare/compare.js'
import { getMergeBase } from './compare/get-merge-base.js'
import { consolePageRoutes } from './console-pages.js'
import { deployTokenRoutes } from './deploy-tokens.js'
import { deploymentRoutes } from './deployments.js'
import { discussionRoutes } from './discussions.js'
import { documentationRoutes } from './documentation/index.js'
import { emptyListRoutes } from './empty-lists.js'
import { environmentRoutes } from './environments.js'
import { fileRoutes } from './files/index.js'
import { freezePeriodRoutes } from './freeze-periods.js'
import { getSystem } from './get-system.js'
import { getVersion } from './get-version.js'
import { gitHttpRoutes } from './git-http/index.js'
import { hookRoutes } from './hooks.js'
import { lfsRoutes } from './lfs/index.js'
import { listContributors } from './list-contributors.js'
import { memberRoutes } from './members.js'
import { namespaceRoutes } from './namespaces.js'
import { pipelineRoutes } from './pipelines/index.js'
import { listProjectStates } from './project-states.js'
import { projectTokenRoutes } from './project-tokens/index.js'
import { projectRoutes } from './projects.js'
import { protectedBranchRoutes } from './protected-branches.js'
import { protectedTagRoutes } from './protected-tags.js'
import { releaseRoutes } from './releases/index.js'
import { savedViewRoutes } from './saved-views.js'
import { sessionRoutes } from './session.js'
import { statusRoutes } from './statuses.js'
import { storageMoveRoutes } from './storage-moves.js'
import { tagRoutes } from './tags/index.js'
import { tokenRoutes } from './tokens/index.js'
import { listTree } from './tree/list-tree.js'
import { userRoutes } from './users.js'
import { webRoutes } from './web/index.js'

/** Every route of this service, each with its method, path, guard and endpoint. */
export const routes = (deps: Dependencies): Route[] => [
  // Express tries one route after the other, so the routes that pipelines call most stand first.
  ...commitRoutes(deps),
  ...statusRoutes(deps),
  ...branchRoutes(deps),
  ...tagRoutes(deps),
  ...fileRoutes(deps),
  ...blobRoutes(deps),
  ...archiveRoutes(deps),
  route('GET', '/projects/:id/repository/contributors', deps.guards.readCode, listContributors),
  route('GET', '/projects/:id/repository/compare', deps.guards.readCode, compare),
  route('GET', '/projects/:id/repository/merge_base', deps.guards.readCode, getMergeBase),
  route('GET', '/projects/:id/repository/tree', deps.guards.readCode, listTree),
  route('GET', '/version', signedIn, getVersion(deps)),
  route('GET', '/system', administrator, getSystem(deps)),
  ...documentationRoutes(),
  ...userRoutes(deps),
  ...tokenRoutes(deps),
  ...sessionRoutes(deps),
  ...savedViewRoutes(deps),
  ...projectRoutes(deps),
  route('GET', '/project_states', signedIn, listProjectStates(deps), { refusesUnknown: true }),
  ...namespaceRoutes(deps),
  ...memberRoutes(deps),
  ...protectedBranchRoutes(deps),
  ...protectedTagRoutes(deps),
  ...releaseRoutes(deps),
  ...pipelineRoutes(deps),
  ...projectTokenRoutes(deps),
  ...deployTokenRoutes(deps),
  ...hookRoutes(deps),
  ...auditEventRoutes(deps),
  ...commentRoutes(deps),
  ...discussionRoutes(deps),
  ...environmentRoutes(deps),
  ...deploymentRoutes(deps),
  ...freezePeriodRoutes(deps),
  ...emptyListRoutes(deps),
  ...storageMoveRoutes(deps),
  ...betweenStoragesRoutes(deps),
  ...gitHttpRoutes(deps),
  ...lfsRoutes(deps),
  ...badgeRoutes(deps),
  ...webRoutes(deps),
  ...consolePageRoutes(),
]
