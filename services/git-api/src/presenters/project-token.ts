import type { ProjectTokenWithLevel } from '@switchyard/db'
import { z } from 'zod'
import { accessLevelShape } from './member.js'
import {
  issuedTokenShape,
  presentIssuedToken,
  presentToken,
  type TokenWithSecret,
  tokenShape,
} from './token.js'

export const projectTokenShape = z
  .object({ ...tokenShape.shape, access_level: accessLevelShape.nullable() })
  .meta({ id: 'ProjectToken', description: 'A token that works in one project, with a role there' })

export const issuedProjectTokenShape = z
  .object({ ...issuedTokenShape.shape, access_level: accessLevelShape })
  .meta({ id: 'IssuedProjectToken', description: 'The only answer that holds the secret of a token' })

/** A token of a project, with its role in the project. */
export const presentProjectToken = ({
  accessLevel,
  ...token
}: ProjectTokenWithLevel): z.output<typeof projectTokenShape> => ({
  ...presentToken(token),
  access_level: accessLevel,
})

export const presentIssuedProjectToken = (
  issued: TokenWithSecret,
  accessLevel: number,
): z.output<typeof issuedProjectTokenShape> => ({
  ...presentIssuedToken(issued),
  access_level: accessLevel,
})
