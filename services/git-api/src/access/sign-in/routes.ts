import {
  anyone,
  type Call,
  documented,
  endpoint,
  type Guard,
  ok,
  oneOf,
  type Reply,
  type Route,
  redirect,
  route,
  setSessionCookie,
  text,
} from '@switchyard/service-kit/http'
import { z } from 'zod'
import { optional, optionalText } from '../../shapes/parameters.js'
import { consoleAddress, keepFlow, newFlow, takeFlow } from './flow.js'
import * as identities from './identities.js'
import type { Provider } from './provider.js'
import { loggedCause, refused, SignInRefused } from './refusals.js'
import type { SignInDependencies } from './sign-in.js'
import * as signIn from './sign-in.js'

const noStore = { 'Cache-Control': 'no-store' }

const signInShape = z
  .object({
    token_sign_in: oneOf(['everybody', 'administrators'] as const),
    providers: z.array(z.object({ name: z.string(), label: z.string() })),
    own_token_days_max: z.int().nullable().meta({
      description:
        'Maximum lifetime of a token that users create for themselves; null: they cannot create any',
    }),
  })
  .meta({ id: 'SignIn', description: 'The ways to sign in' })

/**
 * Sign-in by a provider of OpenID Connect. Browsers open these addresses; the provider calls the back-channel
 * logout.
 */
export const signInRoutes = (deps: SignInDependencies): Route[] => {
  const byProvider = providerGuard(deps)
  return [
    route('GET', '/sign_in', anyone, showSignIn(deps)),
    route('GET', '/sign_in/:provider', byProvider, beginSignIn),
    route('GET', '/sign_in/:provider/callback', byProvider, finish(deps)),
    route('GET', '/sign_in/:provider/sign_out', byProvider, signOut),
    route('POST', '/sign_in/:provider/backchannel_logout', byProvider, endSessions(deps)),
  ]
}

/** Returns a guard that admits everybody, for a provider that the settings name. */
const providerGuard = (deps: SignInDependencies): Guard<Provider> =>
  documented(
    { anonymous: true, parameters: { provider: 'Name of a single sign-on provider' } },
    ({ params }) => signIn.getProvider(deps, params.provider ?? ''),
  )

const showSignIn = ({ signInProviders, sessions, ownTokenDaysMax }: SignInDependencies) =>
  endpoint({
    summary: 'List the ways to sign in',
    replies: { 200: signInShape },
    input: z.object({}),
    handle: async () =>
      ok({
        token_sign_in: sessions.tokenSignIn,
        providers: [...signInProviders.values()].map(({ settings: { name, label } }) => ({ name, label })),
        own_token_days_max: ownTokenDaysMax ?? null,
      } satisfies z.output<typeof signInShape>),
  })

const lead = (location: string): Reply => redirect(location, noStore)

/** Redirects to the page of the console that explains why the sign-in was refused. */
const refusalPage = ({ settings: { label } }: Provider, { reason }: SignInRefused) =>
  lead(`/console/sign-in?${new URLSearchParams({ problem: reason, by: label })}`)

/** Runs a step of a sign-in. Redirects to a page of the console when it is refused, and logs why. */
async function answering(provider: Provider, call: Call, work: () => Promise<Reply>) {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof SignInRefused)) throw error
    call.logger.warn({ provider: provider.settings.name, ...loggedCause(error) }, 'a sign-in was refused')
    return refusalPage(provider, error)
  }
}

const beginSignIn = endpoint({
  summary: 'Sign in with a provider: redirect the browser to the provider',
  replies: { 302: null },
  headers: { Location: 'The provider, or the sign-in page with the error' },
  input: z.object({
    next: optionalText(text()).meta({ description: 'Path under `/console/` to open afterwards' }),
  }),
  handle: async ({ next }, provider: Provider, call) =>
    answering(provider, call, async () => {
      const flow = newFlow({ next: consoleAddress(next, call.baseUrl) })
      const url = await provider.authorizationUrl(flow)
      await keepFlow(call, provider.settings, flow)
      return lead(url)
    }),
})

const finish = (deps: SignInDependencies) =>
  endpoint({
    summary: 'Handle the redirect from the provider: start the session or link the account',
    replies: { 302: null },
    headers: {
      Location: 'The requested page, or the sign-in page with the error',
      'Set-Cookie': 'The cookie of the session, which no script can read',
    },
    input: z.object({
      code: optional(text()),
      state: optional(text()),
      error: optional(text()),
    }),
    async handle(_input, provider: Provider, call) {
      const flow = await takeFlow(call, provider.settings)
      const query = new URL(call.raw.request.originalUrl, call.baseUrl).searchParams.toString()
      return answering(provider, call, async () => {
        if (!flow) throw refused('other_browser')
        const answer = await provider.finish(flow, query)
        if (flow.link) await identities.linkFromBrowser(deps, provider, answer, flow.link, call)
        else {
          const { secret, expiresAt } = await signIn.finishSignIn(deps, provider, answer, call)
          setSessionCookie(call, secret, expiresAt)
        }
        return lead(flow.next)
      })
    },
  })

const signOut = endpoint({
  summary: 'Sign out at the provider: redirect the browser to the provider',
  replies: { 302: null },
  headers: { Location: 'The sign-out page of the provider, or the sign-in page if it has none' },
  input: z.object({}),
  handle: async (_input, provider: Provider, call) =>
    answering(provider, call, async () => lead((await provider.endSessionUrl()) ?? '/console/sign-in')),
})

const endSessions = ({ database }: SignInDependencies) =>
  endpoint({
    summary: "End sessions at the provider's request (OpenID Connect Back-Channel Logout)",
    replies: { 200: null },
    input: z.object({ logout_token: text(16 * 1024) }),
    async handle({ logout_token: token }, provider: Provider, call) {
      await signIn.endSessionsOf(database, provider, token, call)
      return ok(undefined, noStore)
    },
  })
