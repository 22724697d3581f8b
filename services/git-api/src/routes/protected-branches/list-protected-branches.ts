import { listProtectedBranches as findBranches } from '@switchyard/db'
import { type Call, endpoint, pageParameters, pageReply, rowsOf, text } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../../dependencies.js'
import type { ProjectCall } from '../../guards.js'
import { presentProtectedBranch, protectedBranchShape } from '../../presenters/protected-branch.js'

const input = z.object({ ...pageParameters, search: text().default('') })

/** `GET /projects/:id/protected_branches` */
export const listProtectedBranches = ({ database }: Dependencies) =>
  endpoint({
    summary: 'Protected branches',
    replies: { 200: z.array(protectedBranchShape) },
    input,
    async handle({ search, ...page }, { project }: ProjectCall, call: Call) {
      const all = await findBranches(database, project.id)
      const found = all.filter(({ name }) => name.includes(search))
      const { skip, take } = rowsOf(page)
      const items = found.slice(skip, skip + take).map(presentProtectedBranch)
      return pageReply(items, page, found.length, call)
    },
  })
