import { anyone, type Route, route } from '@switchyard/service-kit/http'
import type { Dependencies } from '../../dependencies.js'
import { getArchivePage } from './archive.js'
import { goGet } from './go-get.js'
import { getRawPage } from './raw-file.js'
import { getReleaseDownload } from './release-download.js'
import { visiting } from './visitors.js'

/** Addresses of GitLab's web pages that programs use. */
export function webRoutes(deps: Dependencies): Route[] {
  const project = '/:namespace/:project'
  const options = { outsideApi: true, basicAuthentication: true }
  const readCode = visiting(deps, 'read_code')
  const downloads = `${project}/-/releases/*tag/downloads/*path`
  const forGo = { outsideApi: true, only: isGoGet }
  return [
    route('GET', `${project}/-/raw/*rest`, readCode, getRawPage(deps), options),
    route('GET', `${project}/-/archive/*rest`, readCode, getArchivePage, {
      ...options,
      longLived: true,
    }),
    route('GET', downloads, visiting(deps, 'read_project'), getReleaseDownload(deps), options),
    route('GET', project, anyone, goGet, forGo),
    route('GET', `${project}/*rest`, anyone, goGet, forGo),
  ]
}

const isGoGet: Route['only'] = ({ query }) => query['go-get'] === '1'
