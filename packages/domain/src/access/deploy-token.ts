import type { Caller } from './caller.js'

/** The user name that a deploy token has unless its maker chose another one. */
export const deployTokenUsername = (id: number): string => `gitlab+deploy-token-${id}`

/** The negated id of a deploy token stands for a user and a token, and is the id of none. */
export const deployCallerId = (id: number): number => -id

/** A caller who may fetch from one project and do nothing else: no endpoint of the API accepts a token without scopes. */
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
