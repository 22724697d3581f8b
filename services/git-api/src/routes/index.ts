import { type Route, route, signedIn } from '@switchyard/service-kit/http'
import type { Dependencies } from '../dependencies.js'
import { commitRoutes } from './commits/index.js'
import { getVersion } from './get-version.js'
import { gitHttpRoutes } from './git-http/index.js'
import { statusRoutes } from './statuses/index.js'
import { getCurrentUser } from './users/get-current-user.js'

/** Everything this service answers: method, path, who may, what happens. */
export function routes(deps: Dependencies): Route[] {
  return [
    route('GET', '/version', signedIn, getVersion),
    route('GET', '/user', signedIn, getCurrentUser(deps)),
    ...commitRoutes(deps),
    ...statusRoutes(deps),
    ...gitHttpRoutes(deps),
  ]
}
