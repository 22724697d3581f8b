import type { Caller } from './caller.js'

/** Returns the user name of a deploy token whose creator chose none. */
export const deployTokenUsername = (id: number): string => `gitlab+deploy-token-${id}`

/**
 * Returns the id of the user and of the token of a deploy caller: the negated id of the deploy token, which
 * no stored user or token has.
 */
export const deployCallerId = (id: number): number => -id

/**
 * Returns a caller who may only fetch from one project, because no endpoint of the API accepts a token
 * without scopes.
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
