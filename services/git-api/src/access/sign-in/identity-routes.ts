import type { Database, Identity } from '@switchyard/db'
import type { Caller } from '@switchyard/domain/access'
import {
  administrator,
  auditAuthor,
  created,
  endpoint,
  filledText,
  noContent,
  ok,
  type Route,
  route,
  rowId,
  signedIn,
  text,
} from '@switchyard/service-kit/http'
import { z } from 'zod'
import { optionalText } from '../../shapes/parameters.js'
import { consoleAddress, keepFlow, newFlow } from './flow.js'
import * as identities from './identities.js'
import type { SignInDependencies } from './sign-in.js'
import * as signIn from './sign-in.js'

const identityShape = z
  .object({
    id: z.int(),
    provider: z.string(),
    issuer: z.string(),
    extern_uid: z.string().meta({ description: 'The subject at the issuer' }),
    created_at: z.date(),
    last_signed_in_at: z.date().nullable(),
  })
  .meta({ id: 'Identity', description: 'An account at a single sign-on provider with which a user signs in' })

const presentIdentity = (identity: Identity): z.output<typeof identityShape> => ({
  id: identity.id,
  provider: identity.provider,
  issuer: identity.issuer,
  extern_uid: identity.subject,
  created_at: identity.createdAt,
  last_signed_in_at: identity.lastSignedInAt,
})

/**
 * Endpoints for accounts at providers. Users link their own accounts, and administrators the accounts of
 * every user.
 */
export const identityRoutes = (deps: SignInDependencies): Route[] => [
  route('GET', '/user/identities', signedIn, listOwn(deps.database)),
  route('POST', '/user/identities', signedIn, beginLink(deps)),
  route('DELETE', '/user/identities/:identity_id', signedIn, unlinkOwn(deps)),
  route('GET', '/users/:id/identities', administrator, list(deps.database)),
  route('POST', '/users/:id/identities', administrator, link(deps)),
  route('DELETE', '/users/:id/identities/:identity_id', administrator, unlink(deps)),
]

const listOwn = (database: Database) =>
  endpoint({
    summary: "List the caller's linked accounts at single sign-on providers",
    replies: { 200: z.array(identityShape) },
    input: z.object({}),
    handle: async (_input, { user }: Caller) =>
      ok((await identities.listIdentities(database, user.id)).map(presentIdentity)),
  })

const beginLink = (deps: SignInDependencies) =>
  endpoint({
    summary: 'Start to link an account at a provider; the browser opens the address in the response',
    replies: { 201: z.object({ authorization_url: z.string() }) },
    refusals: [404],
    headers: { 'Set-Cookie': 'The state that the browser needs when it returns' },
    input: z.object({
      provider: filledText(),
      next: optionalText(text()).meta({ description: 'Path under `/console/` to open afterwards' }),
    }),
    async handle({ provider: name, next }, caller: Caller, call) {
      const provider = signIn.getProvider(deps, name)
      const flow = newFlow({
        next: consoleAddress(next, call.baseUrl),
        link: identities.linkingSession(caller),
      })
      const authorization_url = await identities.linkingUrl(provider, flow)
      await keepFlow(call, provider.settings, flow)
      return created({ authorization_url })
    },
  })

const unlinkOwn = (deps: SignInDependencies) =>
  endpoint({
    summary: 'Unlink an account at a provider and end the sessions that it started',
    replies: { 204: null },
    refusals: [409],
    input: z.object({ identity_id: rowId() }),
    async handle({ identity_id: id }, caller: Caller, call) {
      const unlinked = { userId: caller.user.id, id, keepsWayIn: true }
      await identities.unlinkIdentity(deps, unlinked, auditAuthor(caller, call))
      return noContent()
    },
  })

const list = (database: Database) =>
  endpoint({
    summary: "List a user's linked accounts at single sign-on providers",
    replies: { 200: z.array(identityShape) },
    input: z.object({ id: rowId() }),
    handle: async ({ id }) => ok((await identities.listIdentities(database, id)).map(presentIdentity)),
  })

const link = (deps: SignInDependencies) =>
  endpoint({
    summary: 'Link an account at a provider to a user',
    replies: { 201: identityShape },
    refusals: [409],
    input: z.object({
      id: rowId(),
      provider: filledText(),
      extern_uid: filledText(255).meta({ description: 'The subject (`sub`) at the provider' }),
    }),
    async handle({ id: userId, provider, extern_uid: subject }, administrator: Caller, call) {
      const given = { userId, subject }
      const author = auditAuthor(administrator, call)
      return created(
        presentIdentity(
          await identities.linkIdentity(deps.database, signIn.getProvider(deps, provider), given, author),
        ),
      )
    },
  })

const unlink = (deps: SignInDependencies) =>
  endpoint({
    summary: 'Unlink an account at a provider from a user and end the sessions that it started',
    replies: { 204: null },
    input: z.object({ id: rowId(), identity_id: rowId() }),
    async handle({ id: userId, identity_id: id }, administrator: Caller, call) {
      await identities.unlinkIdentity(
        deps,
        { userId, id, keepsWayIn: false },
        auditAuthor(administrator, call),
      )
      return noContent()
    },
  })
