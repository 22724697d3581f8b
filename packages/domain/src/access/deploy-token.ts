import type { Caller } from './caller.js'

/** The user name that a deploy token has unless its maker chose another one. */
export const deployTokenUsername = (id: number): string => `gitlab+deploy-token-${id}`

/**
 * The id of the user and the token of a deploy caller: the negated id of the deploy token, which no user or
 * token has.
 */
export const deployCallerId = (id: number): number => -id

/**
 * A caller who may fetch from one project and do nothing else: no endpoint of the API accepts a token without
 * scopes.
 */
export const callerOfDeployToken = ({
  id,
  name,
  username,
  projectId,
}: {
  id: number
  name: string
  username: string | null
  projectId: number
}): Caller => ({
  user: {
    id: deployCallerId(id),
    username: username ?? deployTokenUsername(id),
    name,
    email: '',
    admin: false,
    state: 'active',
  },
  token: { id: deployCallerId(id), scopes: [], projectId, deploy: true },
})
