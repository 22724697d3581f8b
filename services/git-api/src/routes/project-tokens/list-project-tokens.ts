import { endpoint, pageParameters, pageReply, rowsOf } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../../dependencies.js'
import type { ProjectCall } from '../../guards.js'
import { presentProjectToken, projectTokenShape } from '../../presenters/project-token.js'
import * as projectTokens from '../../use-cases/project-tokens.js'

export const listProjectTokens = (deps: Dependencies) =>
  endpoint({
    summary: 'Tokens of a project that are not revoked',
    replies: { 200: z.array(projectTokenShape) },
    input: z.object(pageParameters),
    async handle(page, access: ProjectCall, call) {
      const { tokens, total } = await projectTokens.listProjectTokens(deps, access, rowsOf(page))
      return pageReply(tokens.map(presentProjectToken), page, total, call)
    },
  })
