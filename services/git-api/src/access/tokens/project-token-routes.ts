import type { Database } from '@switchyard/db'
import { forbidden } from '@switchyard/domain'
import { accessLevels, type Caller, projectTokenScopes, requireScope } from '@switchyard/domain/access'
import {
  auditAuthor,
  created,
  documented,
  endpoint,
  filledText,
  type Guard,
  noContent,
  ok,
  pageParameters,
  pageReply,
  type Route,
  route,
  rowId,
  rowsOf,
  unsupported,
} from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { ProjectCall, ProjectGuards } from '../../guards.js'
import { accessLevel, optionalDay, scopeList, tokenDescription } from '../../shapes/parameters.js'
import { accessLevelShape } from '../../shapes/user.js'
import { issuedTokenShape, presentIssuedToken, presentToken, tokenShape } from './present.js'
import * as projectTokens from './project-tokens.js'
import type { ProjectTokenWithLevel } from './store.js'
import * as tokenRotation from './token-rotation.js'
import type { IssuedToken, TokenDependencies } from './tokens.js'
import * as tokens from './tokens.js'

const projectTokenShape = z
  .object({ ...tokenShape.shape, access_level: accessLevelShape.nullable() })
  .meta({ id: 'ProjectToken', description: 'A token that works in one project, with a role there' })

const issuedProjectTokenShape = z
  .object({ ...issuedTokenShape.shape, access_level: accessLevelShape })
  .meta({ id: 'IssuedProjectToken', description: 'A new token; only this response contains its secret' })

/** Returns a project token with its role in the project. */
const presentProjectToken = ({
  accessLevel,
  ...token
}: ProjectTokenWithLevel): z.output<typeof projectTokenShape> => ({
  ...presentToken(token),
  access_level: accessLevel,
})

const presentIssuedProjectToken = (
  issued: IssuedToken,
  accessLevel: number,
): z.output<typeof issuedProjectTokenShape> => ({
  ...presentIssuedToken(issued),
  access_level: accessLevel,
})

export function projectTokenRoutes(deps: TokenDependencies): Route[] {
  const { maintain } = deps.guards
  const path = '/projects/:id/access_tokens'
  return [
    route('GET', path, maintain, listProjectTokens(deps.database)),
    route('POST', path, maintain, createProjectToken(deps.database)),
    route('POST', `${path}/self/rotate`, projectTokenItself(deps.guards), rotateOwnProjectToken(deps)),
    route('POST', `${path}/:token_id/rotate`, maintain, rotateProjectToken(deps)),
    route('GET', `${path}/:token_id`, maintain, getProjectToken(deps.database)),
    route('DELETE', `${path}/:token_id`, maintain, deleteProjectToken(deps)),
  ]
}

const filters = [
  'created_after',
  'created_before',
  'expires_after',
  'expires_before',
  'last_used_after',
  'last_used_before',
  'search',
  'sort',
]

const listProjectTokensInput = z.object({
  ...pageParameters,
  ...Object.fromEntries(
    filters.map((name) => [name, unsupported('is not supported: a project has few tokens, read them all')]),
  ),
  state: unsupported('is not supported: revoked tokens are left out, expired ones are not'),
  revoked: unsupported('is not supported: revoked tokens are left out', 'false', '0'),
})

const listProjectTokens = (database: Database) =>
  endpoint({
    summary: 'List the tokens of a project, without revoked ones',
    replies: { 200: z.array(projectTokenShape) },
    input: listProjectTokensInput,
    async handle(page, access: ProjectCall, call) {
      const { tokens, total } = await projectTokens.listProjectTokens(database, access, rowsOf(page))
      return pageReply(tokens.map(presentProjectToken), page, total, call)
    },
  })

const createProjectTokenInput = z.object({
  name: filledText(),
  description: tokenDescription(),
  scopes: scopeList(projectTokenScopes),
  access_level: accessLevel(...Object.values(accessLevels)).default(accessLevels.maintainer),
  expires_at: optionalDay(),
})

/** `POST /projects/:id/access_tokens`. Only this answer shows the secret. */
const createProjectToken = (database: Database) =>
  endpoint({
    summary: 'Create a project token; only this response contains its secret',
    replies: { 201: issuedProjectTokenShape },
    input: createProjectTokenInput,
    async handle({ access_level, expires_at, ...given }, access: ProjectCall<Caller>, call) {
      const token = { ...given, accessLevel: access_level, expiresAt: expires_at }
      const issued = await projectTokens.issueProjectToken(
        database,
        access,
        token,
        auditAuthor(access.caller, call),
      )
      return created(presentIssuedProjectToken(issued, access_level))
    },
  })

const getProjectToken = (database: Database) =>
  endpoint({
    summary: 'Get a project token',
    replies: { 200: projectTokenShape },
    input: z.object({ token_id: rowId() }),
    handle: async ({ token_id }, access: ProjectCall) =>
      ok(presentProjectToken(await projectTokens.getProjectToken(database, access, token_id))),
  })

const deleteProjectToken = (deps: TokenDependencies) =>
  endpoint({
    summary: 'Revoke a project token',
    replies: { 204: null },
    input: z.object({ token_id: rowId() }),
    async handle({ token_id }, access: ProjectCall<Caller>, call) {
      await tokens.revokeProjectToken(deps, access.project.id, token_id, auditAuthor(access.caller, call))
      return noContent()
    },
  })

/**
 * Returns a guard that admits tokens of the project in `:id`, with any role, if their scope lets them replace
 * themselves.
 */
const projectTokenItself = (guards: ProjectGuards): Guard<ProjectCall<Caller>> =>
  documented(
    {
      who: 'tokens of the project with the scope `api` or `self_rotate`',
      parameters: { id: 'The id of the project, or its full path, e.g. `ada%2Fengine`' },
    },
    async (call) => {
      const caller = requireScope(call.caller, 'self_rotate')
      const found = await guards.authorizeProject(call, 'read_project')
      if (caller.token.projectId !== found.project.id) throw forbidden('This is no token of the project')
      return { ...found, caller }
    },
  )

/**
 * `POST /projects/:id/access_tokens/self/rotate`: for tokens of the project with the scope `api` or
 * `self_rotate`.
 */
const rotateOwnProjectToken = (deps: TokenDependencies) =>
  endpoint({
    summary: 'Rotate the project token of this request; only this response contains the new secret',
    replies: { 200: issuedProjectTokenShape },
    input: z.object({ expires_at: optionalDay() }),
    async handle({ expires_at }, { caller, level }: ProjectCall<Caller>, call) {
      const issued = await tokenRotation.rotateOwnToken(deps, expires_at, auditAuthor(caller, call))
      return ok(presentIssuedProjectToken(issued, level))
    },
  })

const rotateProjectToken = (deps: TokenDependencies) =>
  endpoint({
    summary: 'Rotate a project token; only this response contains the new secret',
    replies: { 200: issuedProjectTokenShape },
    input: z.object({ token_id: rowId(), expires_at: optionalDay() }),
    async handle({ token_id: id, expires_at: expiresAt }, access: ProjectCall<Caller>, call) {
      const rotated = await tokenRotation.rotateProjectToken(
        deps,
        access,
        { id, expiresAt },
        auditAuthor(access.caller, call),
      )
      return ok(presentIssuedProjectToken(rotated.issued, rotated.accessLevel))
    },
  })
