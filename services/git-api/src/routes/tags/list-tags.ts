import {
  endpoint,
  keysetParameters,
  keysetReply,
  pageParameters,
  pageReply,
} from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../../dependencies.js'
import type { ProjectCall } from '../../guards.js'
import { presentTag, tagShape } from '../../presenters/tag.js'
import { listTags } from '../../use-cases/tags.js'
import { nameRegex, nameSearch, windowOf } from '../../wire/parameters.js'

const input = z.object({
  ...pageParameters,
  ...keysetParameters,
  search: nameSearch(),
  regex: nameRegex(),
  order_by: z.enum(['updated', 'name', 'version']).default('updated'),
  sort: z.enum(['desc', 'asc']).default('desc'),
})

/** `GET /projects/:id/repository/tags` */
export const listTagsEndpoint = (deps: Dependencies) =>
  endpoint({
    summary: 'Tags',
    replies: { 200: z.array(tagShape) },
    refusals: [413],
    input,
    async handle(
      { search, regex, order_by, sort, pagination, page_token, ...page },
      access: ProjectCall,
      call,
    ) {
      const window = windowOf(pagination, page_token, page)
      const query = { search, regex, order: order_by, descending: sort === 'desc', window }
      const { tags, total, next } = await listTags(deps, access, query)
      const items = tags.map((tag) => presentTag(tag, access.project, call.baseUrl))
      return pagination === 'keyset' ? keysetReply(items, next, call) : pageReply(items, page, total, call)
    },
  })
