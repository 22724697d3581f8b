import { accessLevels, type Caller } from '@switchyard/domain/access'
import { auditAuthor, endpoint, ok, rowId } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../../dependencies.js'
import type { ProjectCall } from '../../guards.js'
import { memberShape, presentMember } from '../../presenters/member.js'
import { changeMember } from '../../use-cases/change-member.js'
import { accessLevel } from '../parameters.js'

const input = z.object({ user_id: rowId(), access_level: accessLevel(...Object.values(accessLevels)) })

/** `PUT /projects/:id/members/:user_id`. Memberships do not expire, so `expires_at` in the request is passed over. */
export const updateMember = (deps: Pick<Dependencies, 'database' | 'guards'>) =>
  endpoint({
    summary: 'Give a member another role',
    replies: { 200: memberShape },
    input,
    async handle({ user_id: userId, access_level: accessLevel }, access: ProjectCall<Caller>, call) {
      const author = auditAuthor(access.caller, call)
      const member = await changeMember(deps, access, { userId, accessLevel }, author)
      return ok(presentMember(member, call.baseUrl))
    },
  })
