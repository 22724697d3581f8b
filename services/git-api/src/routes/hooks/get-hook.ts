import { getWebhook } from '@switchyard/db'
import { endpoint, ok } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../../dependencies.js'
import type { ProjectCall } from '../../guards.js'
import { hookShape, presentHook } from '../../presenters/hook.js'
import { ofProject } from '../../use-cases/project-hooks.js'
import { hookId } from './hook-parameters.js'

/** `GET /projects/:id/hooks/:hook_id` */
export const getHook = ({ database }: Pick<Dependencies, 'database'>) =>
  endpoint({
    summary: 'One webhook',
    replies: { 200: hookShape },
    input: z.object(hookId),
    handle: async ({ hook_id }, { project }: ProjectCall) =>
      ok(presentHook(await getWebhook(database, ofProject(project), hook_id))),
  })
