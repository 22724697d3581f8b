import type { DeployToken } from '@switchyard/db'
import { deployTokenUsername } from '@switchyard/domain/access'
import { z } from 'zod'

export const deployTokenScopes = ['read_repository'] as const

export const deployTokenShape = z
  .object({
    id: z.int(),
    name: z.string(),
    username: z.string(),
    expires_at: z.date().nullable(),
    scopes: z.array(z.enum(deployTokenScopes)),
    revoked: z.boolean(),
    expired: z.boolean(),
  })
  .meta({ id: 'DeployToken', description: 'A token that fetches from one project' })

export const issuedDeployTokenShape = z
  .object({ ...deployTokenShape.shape, token: z.string() })
  .meta({ id: 'IssuedDeployToken', description: 'The only answer that holds the secret of a deploy token' })

/** A deploy token in GitLab's shape. A revoked token has no row. */
export const presentDeployToken = ({
  id,
  name,
  username,
  expiresAt,
}: DeployToken): z.output<typeof deployTokenShape> => ({
  id,
  name,
  username: username ?? deployTokenUsername(id),
  expires_at: expiresAt,
  scopes: [...deployTokenScopes],
  revoked: false,
  expired: expiresAt !== null && expiresAt <= new Date(),
})

export const presentIssuedDeployToken = ({
  token,
  secret,
}: {
  token: DeployToken
  secret: string
}): z.output<typeof issuedDeployTokenShape> => ({ ...presentDeployToken(token), token: secret })
