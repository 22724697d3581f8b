import { endpoint, pageParameters, pageReply, type Route, route } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../dependencies.js'

/** Lists of what only GitLab has. Clients ask for them because a project says that the features are on. */
export const emptyListRoutes = ({ guards }: Dependencies): Route[] => [
  route('GET', '/projects/:id/merge_requests', guards.readProject, emptyList('Merge requests')),
  route('GET', '/projects/:id/issues', guards.readProject, emptyList('Issues')),
]

const emptyList = (kind: string) =>
  endpoint({
    summary: `${kind}, of which there are none`,
    replies: { 200: z.array(z.never()) },
    input: z.object(pageParameters),
    handle: async (page, _access: unknown, call) => pageReply([], page, 0, call),
  })
