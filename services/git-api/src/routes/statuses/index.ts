import { type Route, route } from '@switchyard/service-kit/http'
import type { Dependencies } from '../../dependencies.js'
import { createStatus } from './create-status.js'
import { listStatusesEndpoint } from './list-statuses.js'

export const statusRoutes = (deps: Dependencies): Route[] => [
  route(
    'GET',
    '/projects/:id/repository/commits/:sha/statuses',
    deps.guards.readStatuses,
    listStatusesEndpoint(deps),
  ),
  route('POST', '/projects/:id/statuses/:sha', deps.guards.writeStatuses, createStatus(deps)),
]
