import { endpoint, pageParameters, pageReply, rowsOf, unsupported } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../../dependencies.js'
import type { ProjectCall } from '../../guards.js'
import { presentProjectToken, projectTokenShape } from '../../presenters/project-token.js'
import * as projectTokens from '../../use-cases/project-tokens.js'

const filters = [
  ...[
    'created_after',
    'created_before',
    'expires_after',
    'expires_before',
    'last_used_after',
    'last_used_before',
  ],
  ...['search', 'sort'],
]

const input = z.object({
  ...pageParameters,
  ...Object.fromEntries(
    filters.map((name) => [name, unsupported('is not supported: a project has few tokens, read them all')]),
  ),
  state: unsupported('is not supported: revoked tokens are left out, expired ones are not'),
  revoked: unsupported('is not supported: revoked tokens are left out', 'false', '0'),
})

export const listProjectTokens = (deps: Dependencies) =>
  endpoint({
    summary: 'Tokens of a project that are not revoked',
    replies: { 200: z.array(projectTokenShape) },
    input,
    async handle(page, access: ProjectCall, call) {
      const { tokens, total } = await projectTokens.listProjectTokens(deps, access, rowsOf(page))
      return pageReply(tokens.map(presentProjectToken), page, total, call)
    },
  })
