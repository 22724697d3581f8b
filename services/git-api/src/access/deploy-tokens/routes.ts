import type { Database, DeployToken } from '@switchyard/db'
import { type Caller, deployTokenUsername } from '@switchyard/domain/access'
import {
  administrator,
  auditAuthor,
  created,
  endpoint,
  filledText,
  flag,
  noContent,
  ok,
  pageParameters,
  pageReply,
  type Route,
  route,
  rowId,
  rowsOf,
  text,
  time,
} from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { ProjectCall } from '../../guards.js'
import { optional, optionalText, scopeList } from '../../shapes/parameters.js'
import type { TokenDependencies } from '../tokens/tokens.js'
import * as deployTokens from './deploy-tokens.js'

const deployTokenScopes = ['read_repository'] as const

const deployTokenShape = z
  .object({
    id: z.int(),
    name: z.string(),
    username: z.string(),
    expires_at: z.date().nullable(),
    scopes: z.array(z.enum(deployTokenScopes)),
    revoked: z.boolean(),
    expired: z.boolean(),
  })
  .meta({ id: 'DeployToken', description: 'A token that can only fetch from one project' })

const issuedDeployTokenShape = z.object({ ...deployTokenShape.shape, token: z.string() }).meta({
  id: 'IssuedDeployToken',
  description: 'A new deploy token; only this response contains its secret',
})

/** Returns a deploy token in GitLab's shape. A revoked token has no row. */
const presentDeployToken = ({
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

const presentIssuedDeployToken = ({
  token,
  secret,
}: {
  token: DeployToken
  secret: string
}): z.output<typeof issuedDeployTokenShape> => ({ ...presentDeployToken(token), token: secret })

export function deployTokenRoutes(deps: TokenDependencies): Route[] {
  const { maintain } = deps.guards
  const path = '/projects/:id/deploy_tokens'
  return [
    route('GET', '/deploy_tokens', administrator, listAllDeployTokens(deps.database)),
    route('GET', path, maintain, listDeployTokens(deps.database)),
    route('POST', path, maintain, createDeployToken(deps.database)),
    route('GET', `${path}/:token_id`, maintain, getDeployToken(deps.database)),
    route('DELETE', `${path}/:token_id`, maintain, deleteDeployToken(deps)),
  ]
}

const listFields = z.object({
  ...pageParameters,
  active: optional(flag()).meta({ description: 'Only active tokens, or only expired ones' }),
})

const listAllDeployTokens = (database: Database) =>
  endpoint({
    summary: 'List the deploy tokens of all projects',
    replies: { 200: z.array(deployTokenShape) },
    input: listFields,
    async handle({ active, ...page }, _caller: Caller, call) {
      const found = await deployTokens.listDeployTokens(database, undefined, active, rowsOf(page))
      return pageReply(found.tokens.map(presentDeployToken), page, found.total, call)
    },
  })

const listDeployTokens = (database: Database) =>
  endpoint({
    summary: 'List the deploy tokens of a project',
    replies: { 200: z.array(deployTokenShape) },
    input: listFields,
    async handle({ active, ...page }, { project }: ProjectCall, call) {
      const found = await deployTokens.listDeployTokens(database, project, active, rowsOf(page))
      return pageReply(found.tokens.map(presentDeployToken), page, found.total, call)
    },
  })

const nameLengthMax = 255

/** Creates a deploy token. Only this answer shows the secret. */
const createDeployToken = (database: Database) =>
  endpoint({
    summary: 'Create a deploy token for a project; only this response contains its secret',
    replies: { 201: issuedDeployTokenShape },
    input: z.object({
      name: filledText(nameLengthMax),
      scopes: scopeList(deployTokenScopes),
      expires_at: optional(time()),
      username: optionalText(
        text(nameLengthMax).refine((value) => /^[\w.+-]*$/.test(value), { error: 'is invalid' }),
      ),
    }),
    async handle({ name, username, expires_at: expiresAt }, access: ProjectCall<Caller>, call) {
      const author = auditAuthor(access.caller, call)
      const issued = await deployTokens.issueDeployToken(
        database,
        access,
        { name, username, expiresAt },
        author,
      )
      return created(presentIssuedDeployToken(issued))
    },
  })

const getDeployToken = (database: Database) =>
  endpoint({
    summary: 'Get a deploy token of a project',
    replies: { 200: deployTokenShape },
    input: z.object({ token_id: rowId() }),
    handle: async ({ token_id }, access: ProjectCall) =>
      ok(presentDeployToken(await deployTokens.getDeployToken(database, access, token_id))),
  })

const deleteDeployToken = (deps: TokenDependencies) =>
  endpoint({
    summary: 'Revoke a deploy token',
    replies: { 204: null },
    input: z.object({ token_id: rowId() }),
    async handle({ token_id }, access: ProjectCall<Caller>, call) {
      await deployTokens.revokeDeployToken(deps, access, token_id, auditAuthor(access.caller, call))
      return noContent()
    },
  })
