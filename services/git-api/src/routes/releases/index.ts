import { type Route, route } from '@switchyard/service-kit/http'
import type { Dependencies } from '../../dependencies.js'
import * as links from './release-links.js'
import * as releases from './releases.js'

export function releaseRoutes(deps: Dependencies): Route[] {
  const { readProject, pushCode } = deps.guards
  const path = '/projects/:id/releases'
  const one = `${path}/:tag_name`
  const ofRelease = `${one}/assets/links`
  const latest = releases.redirectToLatest(deps)
  return [
    route('GET', path, readProject, releases.listReleases(deps)),
    route('POST', path, pushCode, releases.createRelease(deps)),
    route('GET', `${path}/permalink/latest`, readProject, latest),
    route('GET', `${path}/permalink/latest/*rest`, readProject, latest),
    route('GET', one, readProject, releases.getRelease(deps)),
    route('PUT', one, pushCode, releases.updateRelease(deps)),
    route('DELETE', one, pushCode, releases.deleteRelease(deps)),
    route('GET', `${one}/downloads/*file_path`, readProject, links.redirectToDownload(deps)),
    route('GET', ofRelease, readProject, links.listLinks(deps)),
    route('POST', ofRelease, pushCode, links.createLink(deps)),
    route('GET', `${ofRelease}/:link_id`, readProject, links.getLink(deps)),
    route('PUT', `${ofRelease}/:link_id`, pushCode, links.updateLink(deps)),
    route('DELETE', `${ofRelease}/:link_id`, pushCode, links.deleteLink(deps)),
  ]
}
