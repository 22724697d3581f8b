import type { Caller } from '@switchyard/domain/access'
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
import type { Dependencies } from '../dependencies.js'
import type { ProjectCall } from '../guards.js'
import {
  deployTokenScopes,
  deployTokenShape,
  issuedDeployTokenShape,
  presentDeployToken,
  presentIssuedDeployToken,
} from '../presenters/deploy-token.js'
import * as tokens from '../use-cases/deploy-tokens.js'
import { optional, optionalText, scopeList } from '../wire/parameters.js'

export function deployTokenRoutes(deps: Dependencies): Route[] {
  const { maintain } = deps.guards
  const path = '/projects/:id/deploy_tokens'
  return [
    route('GET', '/deploy_tokens', administrator, listAllDeployTokens(deps)),
    route('GET', path, maintain, listDeployTokens(deps)),
    route('POST', path, maintain, createDeployToken(deps)),
    route('GET', `${path}/:token_id`, maintain, getDeployToken(deps)),
    route('DELETE', `${path}/:token_id`, maintain, deleteDeployToken(deps)),
  ]
}

const listFields = z.object({
  ...pageParameters,
  active: optional(flag()).meta({ description: 'Only tokens that work, or only expired ones' }),
})

const listAllDeployTokens = (deps: Dependencies) =>
  endpoint({
    summary: 'Deploy tokens of all projects',
    replies: { 200: z.array(deployTokenShape) },
    input: listFields,
    async handle({ active, ...page }, _caller: Caller, call) {
      const found = await tokens.listDeployTokens(deps, undefined, active, rowsOf(page))
      return pageReply(found.tokens.map(presentDeployToken), page, found.total, call)
    },
  })

const listDeployTokens = (deps: Dependencies) =>
  endpoint({
    summary: 'Deploy tokens of a project',
    replies: { 200: z.array(deployTokenShape) },
    input: listFields,
    async handle({ active, ...page }, { project }: ProjectCall, call) {
      const found = await tokens.listDeployTokens(deps, project, active, rowsOf(page))
      return pageReply(found.tokens.map(presentDeployToken), page, found.total, call)
    },
  })

const nameLengthMax = 255

/** The answer is the only place that shows the secret. */
const createDeployToken = (deps: Dependencies) =>
  endpoint({
    summary: 'Make a token that fetches from one project; its secret is shown only here',
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
      const issued = await tokens.issueDeployToken(deps, access, { name, username, expiresAt }, author)
      return created(presentIssuedDeployToken(issued))
    },
  })

const getDeployToken = (deps: Dependencies) =>
  endpoint({
    summary: 'One deploy token of a project',
    replies: { 200: deployTokenShape },
    input: z.object({ token_id: rowId() }),
    handle: async ({ token_id }, access: ProjectCall) =>
      ok(presentDeployToken(await tokens.getDeployToken(deps, access, token_id))),
  })

const deleteDeployToken = (deps: Dependencies) =>
  endpoint({
    summary: 'Revoke a deploy token',
    replies: { 204: null },
    input: z.object({ token_id: rowId() }),
    async handle({ token_id }, access: ProjectCall<Caller>, call) {
      await tokens.revokeDeployToken(deps, access, token_id, auditAuthor(access.caller, call))
      return noContent()
    },
  })
