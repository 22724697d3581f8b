import { findMemberWithUser } from '@switchyard/db'
import { notFound } from '@switchyard/domain'
import { endpoint, ok, rowId } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../../dependencies.js'
import type { ProjectCall } from '../../guards.js'
import { memberShape, presentMember } from '../../presenters/member.js'

/** `GET /projects/:id/members/:user_id`, and the same below `members/all`: no project has members but its own. */
export const getMember = ({ database }: Dependencies) =>
  endpoint({
    summary: 'One member of a project',
    replies: { 200: memberShape },
    input: z.object({ user_id: rowId() }),
    async handle({ user_id }, { project }: ProjectCall, call) {
      const member = await findMemberWithUser(database, project.id, user_id)
      if (!member) throw notFound()
      return ok(presentMember(member, call.baseUrl))
    },
  })
