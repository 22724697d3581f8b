import { type Route, route } from '@switchyard/service-kit/http'
import type { Dependencies } from '../../dependencies.js'
import { createProjectToken } from './create-project-token.js'
import { deleteProjectToken } from './delete-project-token.js'
import { getProjectToken } from './get-project-token.js'
import { listProjectTokens } from './list-project-tokens.js'

export function projectTokenRoutes(deps: Dependencies): Route[] {
  const { maintain } = deps.guards
  const tokens = '/projects/:id/access_tokens'
  return [
    route('GET', tokens, maintain, listProjectTokens(deps)),
    route('POST', tokens, maintain, createProjectToken(deps)),
    route('GET', `${tokens}/:token_id`, maintain, getProjectToken(deps)),
    route('DELETE', `${tokens}/:token_id`, maintain, deleteProjectToken(deps)),
  ]
}
