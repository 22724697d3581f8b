import { type Route, route, signedIn } from '@switchyard/service-kit/http'
import type { Dependencies } from '../dependencies.js'
import { auditEventRoutes } from './audit-events.js'
import { commentRoutes } from './comments.js'
import { commitRoutes } from './commits/index.js'
import { documentationRoutes } from './documentation/index.js'
import { getVersion } from './get-version.js'
import { gitHttpRoutes } from './git-http/index.js'
import { hookRoutes } from './hooks.js'
import { memberRoutes } from './members.js'
import { projectTokenRoutes } from './project-tokens/index.js'
import { projectRoutes } from './projects.js'
import { protectedBranchRoutes } from './protected-branches.js'
import { statusRoutes } from './statuses.js'
import { tokenRoutes } from './tokens/index.js'
import { userRoutes } from './users.js'

/** Every route of this service, each with its method, path, guard and endpoint. */
export const routes = (deps: Dependencies): Route[] => [
  // Express tries one route after the other, so the routes that pipelines call most stand first.
  ...commitRoutes(deps),
  ...statusRoutes(deps),
  route('GET', '/version', signedIn, getVersion),
  ...documentationRoutes(),
  ...userRoutes(deps),
  ...tokenRoutes(deps),
  ...projectRoutes(deps),
  ...memberRoutes(deps),
  ...protectedBranchRoutes(deps),
  ...projectTokenRoutes(deps),
  ...hookRoutes(deps),
  ...auditEventRoutes(deps),
  ...commentRoutes(deps),
  ...gitHttpRoutes(deps),
]
