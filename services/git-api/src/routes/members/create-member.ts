import type { Caller } from '@switchyard/domain/access'
import { accessLevels } from '@switchyard/domain/access'
import { auditAuthor, created, endpoint, rowId } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../../dependencies.js'
import type { ProjectCall } from '../../guards.js'
import { memberShape, presentMember } from '../../presenters/member.js'
import { addMember } from '../../use-cases/add-member.js'
import { accessLevel } from '../parameters.js'

const input = z.object({ user_id: rowId(), access_level: accessLevel(...Object.values(accessLevels)) })

/** `POST /projects/:id/members` */
export const createMember = (deps: Dependencies) =>
  endpoint({
    summary: 'Add a member',
    replies: { 201: memberShape },
    refusals: [409],
    input,
    async handle({ user_id, access_level }, access: ProjectCall<Caller>, call) {
      const author = auditAuthor(access.caller, call)
      const member = await addMember(deps, access, user_id, access_level, author)
      return created(presentMember(member, call.baseUrl))
    },
  })
