import { findProjectToken } from '@switchyard/db'
import { notFound } from '@switchyard/domain'
import { endpoint, ok, rowId } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../../dependencies.js'
import type { ProjectCall } from '../../guards.js'
import { presentProjectToken, projectTokenShape } from '../../presenters/project-token.js'

/** `GET /projects/:id/access_tokens/:token_id` */
export const getProjectToken = ({ database }: Pick<Dependencies, 'database'>) =>
  endpoint({
    summary: 'One token of a project',
    replies: { 200: projectTokenShape },
    input: z.object({ token_id: rowId() }),
    async handle({ token_id }, { project }: ProjectCall) {
      const token = await findProjectToken(database, project.id, token_id)
      if (!token) throw notFound()
      return ok(presentProjectToken(token))
    },
  })
