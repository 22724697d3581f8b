import { listProjectTokens as findProjectTokens } from '@switchyard/db'
import { endpoint, pageParameters, pageReply, rowsOf } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../../dependencies.js'
import type { ProjectCall } from '../../guards.js'
import { presentProjectToken, projectTokenShape } from '../../presenters/project-token.js'

/** `GET /projects/:id/access_tokens`: those that are not revoked. */
export const listProjectTokens = ({ database }: Pick<Dependencies, 'database'>) =>
  endpoint({
    summary: 'Tokens of a project that are not revoked',
    replies: { 200: z.array(projectTokenShape) },
    input: z.object(pageParameters),
    async handle(page, { project }: ProjectCall, call) {
      const { tokens, total } = await findProjectTokens(database, project.id, rowsOf(page))
      return pageReply(tokens.map(presentProjectToken), page, total, call)
    },
  })
