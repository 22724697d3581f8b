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
import { branchShape, presentBranch } from '../../presenters/branch.js'
import { listBranches } from '../../use-cases/branches.js'
import { nameRegex, nameSearch, windowOf } from '../../wire/parameters.js'

const sorts = ['name_asc', 'name_desc', 'updated_asc', 'updated_desc'] as const

const input = z.object({
  ...pageParameters,
  ...keysetParameters,
  search: nameSearch(),
  regex: nameRegex(),
  sort: z.enum(sorts).default('name_asc'),
})

/** `GET /projects/:id/repository/branches` */
export const listBranchesEndpoint = (deps: Dependencies) =>
  endpoint({
    summary: 'Branches',
    replies: { 200: z.array(branchShape) },
    refusals: [413],
    input,
    async handle({ search, regex, sort, pagination, page_token, ...page }, access: ProjectCall, call) {
      const [order, direction] = sort.split('_') as ['name' | 'updated', string]
      const query = {
        search,
        regex,
        order,
        descending: direction === 'desc',
        window: windowOf(pagination, page_token, page),
      }
      const { branches, total, next } = await listBranches(deps, access, query)
      const items = branches.map((branch) => presentBranch(branch, access.project, call.baseUrl))
      return pagination === 'keyset' ? keysetReply(items, next, call) : pageReply(items, page, total, call)
    },
  })
