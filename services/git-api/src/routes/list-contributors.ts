import { endpoint, pageParameters, pageReply, rowsOf, text } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { ProjectCall } from '../guards.js'
import { listContributors as findContributors } from '../use-cases/list-contributors.js'
import { optionalText } from '../wire/parameters.js'

const contributorShape = z
  .object({
    name: z.string(),
    email: z.string(),
    commits: z.int().meta({ description: 'Merges are not counted' }),
    additions: z.literal(0),
    deletions: z.literal(0),
  })
  .meta({ id: 'Contributor', description: 'An author of commits; `additions` and `deletions` are always 0' })

const input = z.object({
  ...pageParameters,
  ref: optionalText(text()),
  order_by: z.enum(['commits', 'name', 'email']).default('commits'),
  sort: z.enum(['asc', 'desc']).default('asc'),
})

/** `GET /projects/:id/repository/contributors` */
export const listContributors = endpoint({
  summary: 'Authors of commits',
  replies: { 200: z.array(contributorShape) },
  input,
  async handle({ ref, order_by: order, sort, ...page }, access: ProjectCall, call) {
    const found = await findContributors(access, { revision: ref, order, descending: sort === 'desc' })
    const { skip, take } = rowsOf(page)
    const items = found
      .slice(skip, skip + take)
      .map((contributor) => ({ ...contributor, additions: 0, deletions: 0 }))
    return pageReply(items, page, found.length, call)
  },
})
