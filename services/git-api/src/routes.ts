import type { Route } from '@switchyard/service-kit/http'
import { absentFeatureRoutes } from './absent-features/routes.js'
import { archiveRoutes } from './archive/routes.js'
import { auditEventRoutes } from './audit/routes.js'
import { badgeRoutes } from './badges/routes.js'
import { branchRoutes } from './branches/routes.js'
import { changeFailureRoutes } from './change-failures/routes.js'
import { changelogRoutes } from './changelog/routes.js'
import { discussionRoutes } from './comments/discussion-routes.js'
import { commentRoutes } from './comments/routes.js'
import { commitRoutes } from './commits/routes.js'
import { compareRoutes } from './compare/routes.js'
import { deliveryMetricRoutes } from './delivery-metrics/routes.js'
import { deployedServiceRoutes } from './deployed-services/routes.js'
import { deploymentStatementRoutes } from './deployment-statements/routes.js'
import { deploymentRoutes } from './deployments/routes.js'
import { deviceAuthorizationRoutes } from './device-authorization/routes.js'
import { environmentRoutes } from './environments/routes.js'
import { rawPageRoutes } from './files/raw-routes.js'
import { fileRoutes } from './files/routes.js'
import { freezePeriodRoutes } from './freeze-periods/routes.js'
import { gitHttpRoutes } from './git-http/routes.js'
import { impactRuleRoutes } from './impact-rules/routes.js'
import { impactRoutes } from './impacts/routes.js'
import { lfsRoutes } from './lfs/routes.js'
import { memberRoutes } from './members/routes.js'
import { namespaceRoutes } from './namespaces/routes.js'
import { packageRoutes } from './packages/routes.js'
import { pipelineRoutes } from './pipelines/routes.js'
import { projectStateRoutes } from './projects/project-state-routes.js'
import { projectRoutes } from './projects/routes.js'
import { protectedBranchRoutes } from './protected-branches/routes.js'
import { protectedEnvironmentRoutes } from './protected-environments/routes.js'
import { protectedTagRoutes } from './protected-tags/routes.js'
import { releaseRoutes } from './releases/routes.js'
import { reportRoutes } from './reports/routes.js'
import { savedViewRoutes } from './saved-views/routes.js'
import { searchRoutes } from './search/routes.js'
import { sessionRoutes } from './sessions/routes.js'
import { identityRoutes } from './sign-in/identity-routes.js'
import { signInRoutes } from './sign-in/routes.js'
import { statusRoutes } from './statuses/routes.js'
import { storageMoveRoutes } from './storages/routes.js'
import { submoduleRoutes } from './submodules/routes.js'
import { systemRoutes } from './system/routes.js'
import { tagRoutes } from './tags/routes.js'
import { deployTokenRoutes } from './tokens/deploy-token-routes.js'
import { projectTokenRoutes } from './tokens/project-token-routes.js'
import { tokenRoutes } from './tokens/routes.js'
import { exchangeRoutes } from './trusted-issuers/exchange-routes.js'
import { trustedIssuerRoutes } from './trusted-issuers/routes.js'
import { uploadRoutes } from './uploads/routes.js'
import { userRoutes } from './users/routes.js'
import { consolePageRoutes, goGetRoutes } from './web/routes.js'
import { hookRoutes } from './webhooks/routes.js'

/** The routes of each subject, as a function of the parts that the subject asks for. */
const subjects = [
  // Express tries one route after the other, so the routes that pipelines call most stand first.
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
  deploymentStatementRoutes,
  deliveryMetricRoutes,
  deployedServiceRoutes,
  impactRuleRoutes,
  protectedEnvironmentRoutes,
  freezePeriodRoutes,
  absentFeatureRoutes,
  storageMoveRoutes,
  gitHttpRoutes,
  lfsRoutes,
  badgeRoutes,
  goGetRoutes,
  consolePageRoutes,
]

/** The parts that all subjects together ask for. */
type RouteDependencies = typeof subjects extends ((deps: infer Asked) => Route[])[] ? Asked : never

/** The routes of this service, each with its method, path, guard and endpoint. Those between several storages: storages/join-storages.ts. */
export const routes = (deps: RouteDependencies): Route[] => subjects.flatMap((routesOf) => routesOf(deps))
