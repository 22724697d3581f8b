import type { Caller } from '@switchyard/domain/access'
import { auditAuthor, created, endpoint, filledText } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../../dependencies.js'
import type { ProjectCall } from '../../guards.js'
import { hookShape, presentHook } from '../../presenters/hook.js'
import { addHook } from '../../use-cases/project-hooks.js'
import { optionalHookParameters, secretOf, wantedEvents } from './hook-parameters.js'

/** `POST /projects/:id/hooks`: tells of pushes unless something else is said. */
export const createHook = (deps: Dependencies) =>
  endpoint({
    summary: 'Tell a server of what happens in a project',
    replies: { 201: hookShape },
    input: z.object({ ...optionalHookParameters, url: filledText() }),
    async handle({ url, token, enabled = true, ...flags }, access: ProjectCall<Caller>, call) {
      const secret = secretOf(token) ?? null
      const fields = { url, secret, enabled, events: wantedEvents(flags, ['push']) }
      return created(presentHook(await addHook(deps, access, fields, auditAuthor(access.caller, call))))
    },
  })
