import { type Route, route } from '@switchyard/service-kit/http'
import type { Dependencies } from '../../dependencies.js'
import { createProjectToken } from './create-project-token.js'
import { deleteProjectToken } from './delete-project-token.js'
import { getProjectToken } from './get-project-token.js'
import { listProjectTokens } from './list-project-tokens.js'
import { projectTokenItself } from './project-token-itself.js'
import { rotateOwnProjectToken } from './rotate-own-project-token.js'
import { rotateProjectToken } from './rotate-project-token.js'

export function projectTokenRoutes(deps: Dependencies): Route[] {
  const { maintain } = deps.guards
  const tokens = '/projects/:id/access_tokens'
  return [
    route('GET', tokens, maintain, listProjectTokens(deps)),
    route('POST', tokens, maintain, createProjectToken(deps)),
    route('POST', `${tokens}/self/rotate`, projectTokenItself(deps), rotateOwnProjectToken(deps)),
    route('POST', `${tokens}/:token_id/rotate`, maintain, rotateProjectToken(deps)),
    route('GET', `${tokens}/:token_id`, maintain, getProjectToken(deps)),
    route('DELETE', `${tokens}/:token_id`, maintain, deleteProjectToken(deps)),
  ]
}
