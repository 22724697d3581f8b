import { administrator, type Route, route, signedIn } from '@switchyard/service-kit/http'
import type { Dependencies } from '../../dependencies.js'
import { createToken } from './create-token.js'
import { getOwnToken } from './get-own-token.js'
import { getToken } from './get-token.js'
import { listTokens } from './list-tokens.js'
import { revokeOwnToken } from './revoke-own-token.js'
import { revokeToken } from './revoke-token.js'
import { rotateOwnToken } from './rotate-own-token.js'
import { rotateToken } from './rotate-token.js'
import { selfRotation, tokenHolder } from './token-holder.js'

export function tokenRoutes(deps: Dependencies): Route[] {
  const tokens = '/personal_access_tokens'
  return [
    route('POST', '/users/:id/personal_access_tokens', administrator, createToken(deps)),
    route('GET', tokens, signedIn, listTokens(deps)),
    route('GET', `${tokens}/self`, tokenHolder, getOwnToken(deps)),
    route('DELETE', `${tokens}/self`, tokenHolder, revokeOwnToken(deps)),
    route('POST', `${tokens}/self/rotate`, selfRotation, rotateOwnToken(deps)),
    route('GET', `${tokens}/:id`, signedIn, getToken(deps)),
    route('DELETE', `${tokens}/:id`, signedIn, revokeToken(deps)),
    route('POST', `${tokens}/:id/rotate`, signedIn, rotateToken(deps)),
  ]
}
