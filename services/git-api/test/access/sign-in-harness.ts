import { type Claims, getFreePort, identityClient, startIdentityProvider } from '@switchyard/testing'
import { startHarness } from '../harness.js'
import { openWindow, type Window } from './identity-window.js'

/**
 * Settings of each provider in the tests, besides its address and client. All providers are the same server.
 */
const settings = {
  open: { create_users: true, label: 'Company' },
  closed: {},
  limited: {
    create_users: true,
    allowed_domains: ['example.com'],
    groups_claim: 'groups',
    allowed_groups: ['staff'],
  },
  groups: {
    create_users: true,
    groups_claim: 'groups',
    admin_groups: ['ops'],
    group_roles: ['eng=developer:owner/eng-*', 'lead=maintainer:owner/eng-one', 'eng=reporter:owner/*'],
  },
  short: { create_users: true, session_seconds_max: 0 },
} satisfies Record<string, Record<string, unknown>>

export type ProviderName = keyof typeof settings

/** Starts git-api with single sign-on, and a real provider. */
export async function startSignIn(env: Record<string, string> = {}) {
  const port = await getFreePort()
  const base = `http://127.0.0.1:${port}`
  const accounts: Record<string, Claims> = {}
  const addressOf = (name: ProviderName) => `${base}/api/v4/sign_in/${name}`
  const provider = await startIdentityProvider({
    redirectUris: Object.keys(settings).map((name) => `${addressOf(name as ProviderName)}/callback`),
    postLogoutRedirectUri: `${base}/console/sign-in`,
    backchannelLogoutUri: `${addressOf('open')}/backchannel_logout`,
    accounts,
  })
  const list = Object.entries(settings).map(([name, further]) => ({
    name,
    issuer: provider.issuer,
    client_id: identityClient.id,
    client_secret: identityClient.secret,
    ...further,
  }))
  const harness = await startHarness({
    env: { PORT: String(port), EXTERNAL_URL: base, OIDC_PROVIDERS: JSON.stringify(list), ...env },
  })
  return {
    harness,
    provider,
    accounts,
    base,
    addressOf,
    /**
     * Signs in at the provider and comes back.
     *
     * @returns the final page of the console, and the window
     */
    async signIn(
      login: string,
      {
        name = 'open',
        window = openWindow(),
        next = '',
      }: { name?: ProviderName; window?: Window; next?: string } = {},
    ) {
      const query = next === '' ? '' : `?${new URLSearchParams({ next })}`
      const { at } = await window.logIn(`${addressOf(name)}${query}`, login)
      return { window, page: at.slice(base.length) }
    },
    /** Calls the API from a window. */
    async api(window: Window, path: string, init: RequestInit = {}) {
      const own = { 'Sec-Fetch-Site': 'same-origin', 'Content-Type': 'application/json' }
      const response = await window.ask(`${base}/api/v4${path}`, { ...init, headers: own })
      const text = await response.text()
      return { status: response.status, body: text === '' ? null : JSON.parse(text) }
    },
    /** Returns the entries of the audit log about a user, oldest first. */
    eventsOf: (userId: number) =>
      harness.database.prisma.auditEvent.findMany({ where: { authorId: userId }, orderBy: { id: 'asc' } }),
    userNamed: (username: string) =>
      harness.database.prisma.user.findUnique({ where: { usernameKey: username.toLowerCase() } }),
    async close() {
      await harness.close()
      await provider.stop().catch(() => {})
    },
  }
}

export type SignIn = Awaited<ReturnType<typeof startSignIn>>
