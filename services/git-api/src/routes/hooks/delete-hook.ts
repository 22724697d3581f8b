import type { Caller } from '@switchyard/domain/access'
import { auditAuthor, endpoint, noContent } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../../dependencies.js'
import type { ProjectCall } from '../../guards.js'
import { removeHook } from '../../use-cases/project-hooks.js'
import { hookId } from './hook-parameters.js'

/** `DELETE /projects/:id/hooks/:hook_id`, with the log of its deliveries. */
export const deleteHook = (deps: Dependencies) =>
  endpoint({
    summary: 'Delete a webhook with the log of its deliveries',
    replies: { 204: null },
    input: z.object(hookId),
    async handle({ hook_id }, access: ProjectCall<Caller>, call) {
      await removeHook(deps, access, hook_id, auditAuthor(access.caller, call))
      return noContent()
    },
  })
