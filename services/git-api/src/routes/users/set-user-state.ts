import type { UserState } from '@switchyard/db'
import type { Caller } from '@switchyard/domain/access'
import { auditAuthor, created, endpoint, rowId } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../../dependencies.js'
import { setUserState } from '../../use-cases/change-user.js'

const summaries: Record<UserState, string> = {
  blocked: 'Block a user: no token of theirs works any more',
  active: 'Take the block of a user back',
}

/** `POST /users/:id/block` and `/unblock`: answered with `true`, as by GitLab, also when it was so before. */
export const setStateOfUser = (deps: Pick<Dependencies, 'database' | 'forgetUsers'>, state: UserState) =>
  endpoint({
    summary: summaries[state],
    replies: { 201: z.literal(true) },
    input: z.object({ id: rowId() }),
    async handle({ id }, administrator: Caller, call) {
      await setUserState(deps, id, state, auditAuthor(administrator, call))
      return created(true)
    },
  })
