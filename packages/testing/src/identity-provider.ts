import { generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import Provider, { type Configuration, type JWK } from 'oidc-provider'

/** Claims of an account besides `sub`. */
export type Claims = Record<string, unknown>

export interface IdentityProviderOptions {
  /** Addresses to which browsers return. */
  redirectUris: string[]
  /**
   * Address to which browsers return after signing out, and the one that the provider calls when a session
   * ends.
   */
  postLogoutRedirectUri?: string
  backchannelLogoutUri?: string
  /** Accounts by subject, which a user types as the login. Changes take effect at the next sign-in. */
  accounts: Record<string, Claims>
  port?: number
}

export const identityClient = { id: 'switchyard', secret: 'the-secret-of-the-client-in-tests' }

/** Starts a provider of OpenID Connect with a login form that accepts any password. */
export async function startIdentityProvider(options: IdentityProviderOptions) {
  let keys = newKeys()
  const server = createServer((request, response) => provider.callback()(request, response))
  await listen(server, options.port ?? 0)
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  let provider = new Provider(issuer, configurationOf(options, keys))
  return {
    issuer,
    accounts: options.accounts,
    /** Makes the provider sign with another key, and forget who is signed in. */
    rotateKeys(): void {
      keys = newKeys()
      provider = new Provider(issuer, configurationOf(options, keys))
    },
    /** Returns the private keys, with which a test signs tokens of its own. */
    get keys() {
      return keys
    },
    /** Stops answering. */
    async stop(): Promise<void> {
      server.closeAllConnections()
      await new Promise((closed) => server.close(closed))
    },
    /** Answers again, at the same address. */
    start: () => listen(server, Number(new URL(issuer).port)),
  }
}

export type IdentityProvider = Awaited<ReturnType<typeof startIdentityProvider>>

const listen = (server: Server, port: number) =>
  new Promise<void>((ready) => {
    server.listen(port, '127.0.0.1', () => ready())
  })

interface ProviderKey {
  kid: string
  key: KeyObject
}

const newKeys = (): ProviderKey[] => [
  { kid: randomUUID(), key: generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey },
]

function configurationOf(options: IdentityProviderOptions, keys: ProviderKey[]): Configuration {
  const { redirectUris, postLogoutRedirectUri, backchannelLogoutUri, accounts } = options
  return {
    clients: [
      {
        client_id: identityClient.id,
        client_secret: identityClient.secret,
        redirect_uris: redirectUris,
        ...(postLogoutRedirectUri && { post_logout_redirect_uris: [postLogoutRedirectUri] }),
        ...(backchannelLogoutUri && {
          backchannel_logout_uri: backchannelLogoutUri,
          backchannel_logout_session_required: true,
        }),
      },
    ],
    jwks: {
      keys: keys.map(({ kid, key }) => ({ ...key.export({ format: 'jwk' }), kid, use: 'sig' }) as JWK),
    },
    cookies: { keys: ['a key of tests'] },
    claims: {
      openid: ['sub'],
      profile: ['name', 'preferred_username', 'groups'],
      email: ['email', 'email_verified'],
    },
    features: { backchannelLogout: { enabled: true }, devInteractions: { enabled: true } },
    async findAccount(_context, id) {
      const claims = accounts[id]
      return claims && { accountId: id, claims: async () => ({ sub: id, ...claims }) }
    },
    // The library would call no service on this machine.
    fetch: (url, options) => fetch(url, Object.assign(options ?? {}, { dispatcher: undefined })),
    // No user is asked for consent.
    async loadExistingGrant({ oidc }) {
      const grant = new oidc.provider.Grant({
        clientId: oidc.client?.clientId ?? '',
        accountId: oidc.session?.accountId ?? '',
      })
      grant.addOIDCScope('openid profile email')
      await grant.save()
      return grant
    },
  }
}
