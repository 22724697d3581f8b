import type { Route } from '@switchyard/service-kit/http'
import { absentFeatureRoutes } from './absent-features/routes.js'
import { deployTokenRoutes } from './access/deploy-tokens/routes.js'
import { deviceAuthorizationRoutes } from './access/device-authorization/routes.js'
import { memberRoutes } from './access/members/routes.js'
import { sessionRoutes } from './access/sessions/routes.js'
import { identityRoutes } from './access/sign-in/identity-routes.js'
import { signInRoutes } from './access/sign-in/routes.js'
import { projectTokenRoutes } from './access/tokens/project-token-routes.js'
import { tokenRoutes } from './access/tokens/routes.js'
import { exchangeRoutes } from './access/trusted-issuers/exchange-routes.js'
import { trustedIssuerRoutes } from './access/trusted-issuers/routes.js'
import { userRoutes } from './access/users/routes.js'
import { auditEventRoutes } from './audit/routes.js'
import { badgeRoutes } from './ci/badges/routes.js'
import { pipelineRoutes } from './ci/pipelines/routes.js'
import { reportRoutes } from './ci/reports/routes.js'
import { statusRoutes } from './ci/statuses/routes.js'
import { changeFailureRoutes } from './delivery/change-failures/routes.js'
import { deliveryMetricRoutes } from './delivery/delivery-metrics/routes.js'
import { deployedServiceRoutes } from './delivery/deployed-services/routes.js'
import { deploymentRoutes } from './delivery/deployments/routes.js'
import { environmentRoutes } from './delivery/environments/routes.js'
import { freezePeriodRoutes } from './delivery/freeze-periods/routes.js'
import { freezeRoutes } from './delivery/freezes/routes.js'
import { impactRuleRoutes } from './delivery/impact-rules/routes.js'
import { impactRoutes } from './delivery/impacts/routes.js'
import { protectedEnvironmentRoutes } from './delivery/protected-environments/routes.js'
import { namespaceRoutes } from './namespaces/routes.js'
import { projectStateRoutes } from './projects/project-state-routes.js'
import { projectRoutes } from './projects/routes.js'
import { packageRoutes } from './publishing/packages/routes.js'
import { releaseRoutes } from './publishing/releases/routes.js'
import { uploadRoutes } from './publishing/uploads/routes.js'
import { archiveRoutes } from './repository/archive/routes.js'
import { branchRoutes } from './repository/branches/routes.js'
import { changelogRoutes } from './repository/changelog/routes.js'
import { discussionRoutes } from './repository/comments/discussion-routes.js'
import { commentRoutes } from './repository/comments/routes.js'
import { commitRoutes } from './repository/commits/routes.js'
import { compareRoutes } from './repository/compare/routes.js'
import { rawPageRoutes } from './repository/files/raw-routes.js'
import { fileRoutes } from './repository/files/routes.js'
import { gitHttpRoutes } from './repository/git-http/routes.js'
import { lfsRoutes } from './repository/lfs/routes.js'
import { protectedBranchRoutes } from './repository/protected-branches/routes.js'
import { protectedTagRoutes } from './repository/protected-tags/routes.js'
import { submoduleRoutes } from './repository/submodules/routes.js'
import { tagRoutes } from './repository/tags/routes.js'
import { savedViewRoutes } from './saved-views/routes.js'
import { searchRoutes } from './search/routes.js'
import { storageMoveRoutes } from './storages/routes.js'
import { systemRoutes } from './system/routes.js'
import { consolePageRoutes, goGetRoutes } from './web/routes.js'
import { hookRoutes } from './webhooks/routes.js'

/** The functions that make the routes of each subject from its dependencies. */
const subjects = [
  // Express tries the routes in order, so those that pipelines call most are first.
  commitRoutes,
  statusRoutes,
  reportRoutes,
  branchRoutes,
  tagRoutes,
  fileRoutes,
  rawPageRoutes,
  archiveRoutes,
  compareRoutes,
  changelogRoutes,
  submoduleRoutes,
  searchRoutes,
  systemRoutes,
  userRoutes,
  tokenRoutes,
  sessionRoutes,
  signInRoutes,
  identityRoutes,
  deviceAuthorizationRoutes,
  savedViewRoutes,
  projectRoutes,
  projectStateRoutes,
  namespaceRoutes,
  memberRoutes,
  protectedBranchRoutes,
  protectedTagRoutes,
  releaseRoutes,
  packageRoutes,
  uploadRoutes,
  pipelineRoutes,
  projectTokenRoutes,
  deployTokenRoutes,
  trustedIssuerRoutes,
  exchangeRoutes,
  hookRoutes,
  auditEventRoutes,
  commentRoutes,
  discussionRoutes,
  environmentRoutes,
  deploymentRoutes,
  impactRoutes,
  changeFailureRoutes,
  deliveryMetricRoutes,
  deployedServiceRoutes,
  impactRuleRoutes,
  protectedEnvironmentRoutes,
  freezeRoutes,
  freezePeriodRoutes,
  absentFeatureRoutes,
  storageMoveRoutes,
  gitHttpRoutes,
  lfsRoutes,
  badgeRoutes,
  goGetRoutes,
  consolePageRoutes,
]

/** The dependencies of all subjects together. */
type RouteDependencies = typeof subjects extends ((deps: infer Asked) => Route[])[] ? Asked : never

/**
 * Returns the routes of this service, each with its method, path, guard and endpoint.
 * storages/join-storages.ts has those between several storages.
 */
export const routes = (deps: RouteDependencies): Route[] => subjects.flatMap((routesOf) => routesOf(deps))
