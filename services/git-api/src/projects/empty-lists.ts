import { forbidden } from '@switchyard/domain'
import {
  anyone,
  endpoint,
  type Guard,
  pageParameters,
  pageReply,
  type Route,
  route,
  signedIn,
} from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { ProjectGuards } from '../guards.js'

interface Missing {
  path: string
  /** What there are none of. */
  things: string
  /** Why, as the end of a sentence. */
  because: string
  readers: Guard<unknown>
  /** Who learns why nothing is added: everybody signed in who sees the list. */
  writers: Guard<unknown>
}

const inForge = 'they belong to the forge beside it'

/** Things that only GitLab has. Their lists are empty, for clients that ask for them without knowing, and nothing is added. */
export const emptyListRoutes = ({ guards }: { guards: ProjectGuards }): Route[] => {
  const { readProject: readers, readMembers: writers, maintain } = guards
  const missing: Missing[] = [
    { path: '/projects/:id/merge_requests', things: 'merge requests', because: inForge, readers, writers },
    { path: '/projects/:id/issues', things: 'issues', because: inForge, readers, writers },
    { path: '/projects/:id/labels', things: 'labels', because: inForge, readers, writers },
    {
      path: '/projects/:id/variables',
      things: 'variables of CI',
      because: 'they belong to the CI system beside it',
      readers: maintain,
      writers: maintain,
    },
    {
      path: '/groups',
      things: 'groups',
      because: 'every project belongs to a user',
      readers: anyone,
      writers: signedIn,
    },
  ]
  return missing.flatMap((each) => [
    route('GET', each.path, each.readers, emptyList(each)),
    route('POST', each.path, each.writers, refusal(each)),
  ])
}

const emptyList = ({ things }: Missing) =>
  endpoint({
    summary: `An empty list: there are no ${things}`,
    replies: { 200: z.array(z.never()) },
    input: z.object(pageParameters),
    handle: async (page, _access: unknown, call) => pageReply([], page, 0, call),
  })

const refusal = ({ things, because }: Missing) =>
  endpoint({
    summary: `Refused: there are no ${things}`,
    replies: {},
    refusals: [403],
    input: z.object({}),
    handle: async () => {
      throw forbidden(`Switchyard has no ${things}: ${because}`)
    },
  })
