import { listWebhooks } from '@switchyard/db'
import { endpoint, pageParameters, pageReply, rowsOf } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../../dependencies.js'
import type { ProjectCall } from '../../guards.js'
import { hookShape, presentHook } from '../../presenters/hook.js'
import { ofProject } from '../../use-cases/project-hooks.js'

/** `GET /projects/:id/hooks` */
export const listHooks = ({ database }: Pick<Dependencies, 'database'>) =>
  endpoint({
    summary: 'Webhooks of a project',
    replies: { 200: z.array(hookShape) },
    input: z.object(pageParameters),
    async handle(page, { project }: ProjectCall, call) {
      const { webhooks, total } = await listWebhooks(database, ofProject(project), rowsOf(page))
      return pageReply(webhooks.map(presentHook), page, total, call)
    },
  })
