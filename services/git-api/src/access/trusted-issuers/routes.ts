import {
  accessLevels,
  scopes as allScopes,
  type Caller,
  dayText,
  hasExpired,
} from '@switchyard/domain/access'
import {
  administrator,
  auditAuthor,
  type Call,
  created,
  endpoint,
  filledText,
  noContent,
  ok,
  oneOf,
  pageParameters,
  pageReply,
  type Route,
  route,
  rowId,
  rowsOf,
  text,
} from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { ProjectCall } from '../../guards.js'
import {
  accessLevel,
  optionalDay,
  optionalTenantList,
  optionalText,
  scopeList,
} from '../../shapes/parameters.js'
import { accessLevelShape } from '../../shapes/user.js'
import type { TrustedIssuerWithLevel } from './store.js'
import type { TrustedIssuerDependencies } from './trusted-issuers.js'
import * as trustedIssuers from './trusted-issuers.js'

const projectScopes = ['api', 'read_api', 'read_repository', 'write_repository'] as const
const installationScopes = [
  'read_metrics',
  'read_sagas',
  'saga_report',
  'manage_jobs',
  'manage_broadcasts',
] as const

const claimsShape = z
  .record(z.string(), z.string())
  .meta({ description: 'Name of a claim → the pattern of its value; `*` stands for any characters' })

const trustedIssuerShape = z
  .object({
    id: z.int(),
    name: z.string(),
    issuer: z.string(),
    audience: z.string(),
    claims: claimsShape,
    scopes: z.array(oneOf(allScopes)),
    access_level: accessLevelShape
      .nullable()
      .meta({ description: 'The role of the jobs in the project; null outside of projects' }),
    tenants: z
      .array(z.string())
      .nullable()
      .meta({ description: 'The only tenants of sagas that the jobs may name; null: every tenant' }),
    user_id: z.int().meta({ description: 'The bot user as which the jobs act' }),
    active: z.boolean(),
    expires_at: z.string().meta({ format: 'date' }).nullable(),
    created_at: z.date(),
  })
  .meta({
    id: 'TrustedIssuer',
    description: 'A rule that lets CI jobs act with the identity tokens of their issuer',
  })

const presentTrustedIssuer = (rule: TrustedIssuerWithLevel): z.output<typeof trustedIssuerShape> => ({
  id: rule.id,
  name: rule.name,
  issuer: rule.issuer,
  audience: rule.audience,
  claims: rule.claims as Record<string, string>,
  scopes: rule.scopes as z.output<typeof trustedIssuerShape>['scopes'],
  access_level: rule.accessLevel,
  tenants: rule.tenants.length > 0 ? rule.tenants : null,
  user_id: rule.userId,
  active: !hasExpired(rule.expiresAt, new Date()),
  expires_at: rule.expiresAt && dayText(rule.expiresAt),
  created_at: rule.createdAt,
})

export function trustedIssuerRoutes(deps: TrustedIssuerDependencies): Route[] {
  const { maintain } = deps.guards
  const path = '/projects/:id/trusted_issuers'
  const outside = '/trusted_issuers'
  return [
    route('GET', path, maintain, listOfProject(deps), { refusesUnknown: true }),
    // An ignored misspelt condition would make a rule trust more jobs, or trust them for longer, than its
    // author wants.
    route('POST', path, maintain, createInProject(deps), { refusesUnknown: true }),
    route('GET', `${path}/:trusted_issuer_id`, maintain, getOfProject(deps)),
    route('DELETE', `${path}/:trusted_issuer_id`, maintain, deleteOfProject(deps)),
    route('GET', outside, administrator, listOutside(deps), { refusesUnknown: true }),
    route('POST', outside, administrator, createOutside(deps), { refusesUnknown: true }),
    route('GET', `${outside}/:trusted_issuer_id`, administrator, getOutside(deps)),
    route('DELETE', `${outside}/:trusted_issuer_id`, administrator, deleteOutside(deps)),
  ]
}

const nameCharsMax = 255

const commonFields = {
  name: filledText(nameCharsMax),
  issuer: filledText().meta({ description: 'The issuer of the tokens, exactly as in their claim `iss`' }),
  audience: optionalText(text(nameCharsMax)).meta({
    description:
      'What the claim `aud` of the tokens has to name. Unset: the address of the project, or of Switchyard',
  }),
  claims: z.record(z.string(), text()).meta({
    description:
      'Name of a claim → the pattern of its value; `*` stands for any characters. One of `sub`, `repository`, `repository_id`, `project_path` and `project_id` has to be there',
  }),
  expires_at: optionalDay(),
}

const oneRule = z.object({ trusted_issuer_id: rowId() })

const listOfProject = ({ database }: TrustedIssuerDependencies) =>
  endpoint({
    summary: 'List the trust rules for CI jobs in a project',
    replies: { 200: z.array(trustedIssuerShape) },
    input: z.object(pageParameters),
    handle: (page, { project }: ProjectCall, call) => listRules(database, project, page, call),
  })

const listOutside = ({ database }: TrustedIssuerDependencies) =>
  endpoint({
    summary: 'List the trust rules for CI jobs outside of projects',
    replies: { 200: z.array(trustedIssuerShape) },
    input: z.object(pageParameters),
    handle: (page, _caller: Caller, call) => listRules(database, null, page, call),
  })

async function listRules(
  database: TrustedIssuerDependencies['database'],
  project: { id: number } | null,
  page: Parameters<typeof rowsOf>[0],
  call: Call,
) {
  const { rules, total } = await trustedIssuers.listTrustedIssuers(database, project, rowsOf(page))
  return pageReply(rules.map(presentTrustedIssuer), page, total, call)
}

const createInProject = (deps: TrustedIssuerDependencies) =>
  endpoint({
    summary:
      'Create a trust rule that lets the CI jobs of an issuer act in a project without a stored secret',
    replies: { 201: trustedIssuerShape },
    input: z.object({
      ...commonFields,
      scopes: scopeList(projectScopes),
      access_level: accessLevel(10, 20, 30, 40).default(accessLevels.developer),
    }),
    async handle({ access_level, expires_at, audience, ...given }, access: ProjectCall<Caller>, call) {
      const rule = {
        ...given,
        audience: audience ?? `${call.baseUrl}/${access.project.pathWithNamespace}`,
        accessLevel: access_level,
        expiresAt: expires_at,
      }
      const author = auditAuthor(access.caller, call)
      return created(presentTrustedIssuer(await trustedIssuers.trustIssuer(deps, access, rule, author)))
    },
  })

const createOutside = (deps: TrustedIssuerDependencies) =>
  endpoint({
    summary:
      'Create a trust rule that lets the CI jobs of an issuer act outside of projects, for sagas and operations',
    replies: { 201: trustedIssuerShape },
    input: z.object({
      ...commonFields,
      scopes: scopeList(installationScopes),
      tenants: optionalTenantList(),
    }),
    async handle({ expires_at, audience, tenants = [], ...given }, caller: Caller, call) {
      const rule = { ...given, tenants, audience: audience ?? call.baseUrl, expiresAt: expires_at }
      const author = auditAuthor(caller, call)
      return created(
        presentTrustedIssuer(await trustedIssuers.trustIssuerOutsideProjects(deps, caller, rule, author)),
      )
    },
  })

const getOfProject = ({ database }: TrustedIssuerDependencies) =>
  endpoint({
    summary: 'Get a trust rule for CI jobs in a project',
    replies: { 200: trustedIssuerShape },
    input: oneRule,
    handle: async ({ trusted_issuer_id }, { project }: ProjectCall) =>
      ok(presentTrustedIssuer(await trustedIssuers.getTrustedIssuer(database, project, trusted_issuer_id))),
  })

const getOutside = ({ database }: TrustedIssuerDependencies) =>
  endpoint({
    summary: 'Get a trust rule for CI jobs outside of projects',
    replies: { 200: trustedIssuerShape },
    input: oneRule,
    handle: async ({ trusted_issuer_id }, _caller: Caller) =>
      ok(presentTrustedIssuer(await trustedIssuers.getTrustedIssuer(database, null, trusted_issuer_id))),
  })

const deleteOfProject = (deps: TrustedIssuerDependencies) =>
  endpoint({
    summary: 'Delete a trust rule for CI jobs in a project',
    replies: { 204: null },
    input: oneRule,
    async handle({ trusted_issuer_id }, { project, caller }: ProjectCall<Caller>, call) {
      await trustedIssuers.distrustIssuer(deps, project, trusted_issuer_id, auditAuthor(caller, call))
      return noContent()
    },
  })

const deleteOutside = (deps: TrustedIssuerDependencies) =>
  endpoint({
    summary: 'Delete a trust rule for CI jobs outside of projects',
    replies: { 204: null },
    input: oneRule,
    async handle({ trusted_issuer_id }, caller: Caller, call) {
      await trustedIssuers.distrustIssuer(deps, null, trusted_issuer_id, auditAuthor(caller, call))
      return noContent()
    },
  })
