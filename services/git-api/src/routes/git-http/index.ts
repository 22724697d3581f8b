import { type Route, route } from '@switchyard/service-kit/http'
import type { Dependencies } from '../../dependencies.js'
import { serveFetch, takePush } from '../../use-cases/git-exchanges.js'
import { createGitGuards } from './git-guards.js'
import { infoRefs } from './info-refs.js'
import { rpc } from './rpc.js'

/** git's smart HTTP protocol: clone, fetch, push. The path of the project may end in `.git`. */
export function gitHttpRoutes(deps: Dependencies): Route[] {
  const { fetchOrPush, fetch, push } = createGitGuards(deps)
  const repository = '/:namespace/:project'
  const options = { outsideApi: true, streamsBody: true, longLived: true }
  return [
    route('GET', `${repository}/info/refs`, fetchOrPush, infoRefs(deps), options),
    route('POST', `${repository}/git-upload-pack`, fetch, rpc(deps, 'git-upload-pack', serveFetch), options),
    route('POST', `${repository}/git-receive-pack`, push, rpc(deps, 'git-receive-pack', takePush), options),
  ]
}
