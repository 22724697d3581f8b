import { getWebhook } from '@switchyard/db'
import type { Caller } from '@switchyard/domain/access'
import { auditAuthor, endpoint, ok } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../../dependencies.js'
import type { ProjectCall } from '../../guards.js'
import { hookShape, presentHook } from '../../presenters/hook.js'
import { changeHook, ofProject } from '../../use-cases/project-hooks.js'
import { hookId, optionalHookParameters, secretOf, wantedEvents } from './hook-parameters.js'

/** `PUT /projects/:id/hooks/:hook_id`: changes what is given. */
export const updateHook = (deps: Dependencies) =>
  endpoint({
    summary: 'Change a webhook',
    replies: { 200: hookShape },
    input: z.object({ ...optionalHookParameters, ...hookId }),
    async handle({ hook_id, url, token, enabled, ...flags }, access: ProjectCall<Caller>, call) {
      const before = await getWebhook(deps.database, ofProject(access.project), hook_id)
      const changes = { url, secret: secretOf(token), enabled, events: wantedEvents(flags, before.events) }
      const author = auditAuthor(access.caller, call)
      return ok(presentHook(await changeHook(deps, access, hook_id, changes, author)))
    },
  })
