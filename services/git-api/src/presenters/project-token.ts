import type { ProjectTokenWithLevel } from '@switchyard/db'
import type { IssuedToken } from '../use-cases/issue-token.js'
import { presentIssuedToken, presentToken } from './token.js'

/** A project's token: a token, and the role it has there. */
export const presentProjectToken = ({ accessLevel, ...token }: ProjectTokenWithLevel) => ({
  ...presentToken(token),
  access_level: accessLevel,
})

export const presentIssuedProjectToken = (issued: IssuedToken, accessLevel: number) => ({
  ...presentIssuedToken(issued),
  access_level: accessLevel,
})
