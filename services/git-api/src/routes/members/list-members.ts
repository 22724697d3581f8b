import { listMembers as findMembers } from '@switchyard/db'
import { type Call, endpoint, pageParameters, pageReply, rowsOf } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../../dependencies.js'
import type { ProjectCall } from '../../guards.js'
import { memberShape, presentMember } from '../../presenters/member.js'

/**
 * `GET /projects/:id/members` and `GET /projects/:id/members/all`: there are no groups to inherit members from, and the
 * owner is a member.
 */
export const listMembers = ({ database }: Dependencies) =>
  endpoint({
    summary: 'Members of a project',
    replies: { 200: z.array(memberShape) },
    input: z.object(pageParameters),
    async handle(page, { project }: ProjectCall, call: Call) {
      const { members, total } = await findMembers(database, project.id, rowsOf(page))
      const items = members.map((member) => presentMember(member, call.baseUrl))
      return pageReply(items, page, total, call)
    },
  })
