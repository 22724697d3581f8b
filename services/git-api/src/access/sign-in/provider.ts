import { publicKeyAlgorithms } from '@switchyard/domain/access'
import { remembered } from '@switchyard/service-kit/remembered'
import { createRemoteJWKSet, type JWTPayload, jwtVerify } from 'jose'
import * as oidc from 'openid-client'
import type { SignInProvider } from '../../sign-in-config.js'
import type { Flow } from './flow.js'
import { refused, SignInRefused } from './refusals.js'

/** The provider's answer about the person who signs in. */
export interface ProviderAnswer {
  issuer: string
  subject: string
  /** Claims of the ID token and of the user info. The ID token takes precedence. */
  claims: Record<string, unknown>
  /** The session at the provider; null: the provider has sent none. */
  sessionId: string | null
  expiresAt: Date
}

/** The sessions that a verified logout token ends: all sessions of a subject, or one session. */
interface ProviderLogout {
  issuer: string
  subject: string | undefined
  sessionId: string | undefined
  /** Sessions that began after this time do not end. */
  issuedAt: Date
}

export interface Provider {
  settings: SignInProvider
  /**
   * Returns the address at the provider where a sign-in begins.
   *
   * @throws SignInRefused when the provider does not answer
   */
  authorizationUrl(flow: Flow): Promise<string>
  /** Exchanges the code of a callback. @throws SignInRefused */
  finish(flow: Flow, query: string): Promise<ProviderAnswer>
  /** Returns the address at the provider that ends its session; null: the provider has none. */
  endSessionUrl(): Promise<string | null>
  /** Verifies a logout token. @throws Error */
  readLogout(token: string): Promise<ProviderLogout>
}

const timeoutSeconds = 10
/** Largest accepted difference between the clocks of the provider and of this installation. */
export const clockToleranceSeconds = 150
const answerBytesMax = 2 * 1024 * 1024
const metadataMs = 60_000
const logoutSecondsMax = 10 * 60

const logoutEvent = 'http://schemas.openid.net/event/backchannel-logout'

/** Fetches an answer of bounded size, because an unbounded one could fill the memory. */
const boundedFetch: oidc.CustomFetch = async (url, options) => {
  const response = await fetch(url, options as RequestInit)
  const parts: Uint8Array[] = []
  let bytes = 0
  for await (const part of response.body ?? []) {
    bytes += part.byteLength
    if (bytes > answerBytesMax) throw new TypeError('the answer of the provider is too long')
    parts.push(part)
  }
  const { status, headers } = response
  const hasBody = ![101, 204, 205, 304].includes(status)
  return new Response(hasBody ? Buffer.concat(parts) : null, { status, headers })
}

/** @param baseUrl the base URL of this installation */
export function createProvider(settings: SignInProvider, baseUrl: string): Provider {
  const redirectUri = `${baseUrl}/api/v4/sign_in/${settings.name}/callback`
  const metadata = remembered(() => discover(settings), metadataMs)
  let keys: ReturnType<typeof createRemoteJWKSet> | undefined

  return {
    settings,
    async authorizationUrl({ state, nonce, verifier }) {
      const configuration = await metadata().catch(away)
      const url = oidc.buildAuthorizationUrl(configuration, {
        redirect_uri: redirectUri,
        scope: settings.scopes,
        state,
        nonce,
        code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      })
      return url.href
    },
    async finish(flow, query) {
      // The configuration and the keys are read for each sign-in, so that new keys of the provider work at
      // once.
      const configuration = await discover(settings).catch(away)
      const answer = exchange(configuration, new URL(`${redirectUri}?${query}`), flow)
      return answer.catch((error: unknown) => {
        throw refusedExchange(error)
      })
    },
    async endSessionUrl() {
      const configuration = await metadata().catch(away)
      if (configuration.serverMetadata().end_session_endpoint === undefined) return null
      const parameters = { post_logout_redirect_uri: `${baseUrl}/console/sign-in` }
      return oidc.buildEndSessionUrl(configuration, parameters).href
    },
    async readLogout(token) {
      const { jwks_uri = '', issuer } = (await metadata()).serverMetadata()
      keys ??= createRemoteJWKSet(new URL(jwks_uri), { timeoutDuration: timeoutSeconds * 1000 })
      const { payload } = await jwtVerify(token, keys, {
        issuer,
        audience: settings.client_id,
        algorithms: publicKeyAlgorithms,
        clockTolerance: clockToleranceSeconds,
        maxTokenAge: logoutSecondsMax,
        requiredClaims: ['iat', 'jti', 'events'],
      })
      return { issuer: issuerOf(settings), ...logoutOf(payload) }
    },
  }
}

/** Returns the issuer in the form that identities store, whether or not the setting ends with a slash. */
export const issuerOf = ({ issuer }: SignInProvider): string => new URL(issuer).href

function discover(settings: SignInProvider): Promise<oidc.Configuration> {
  const issuer = new URL(settings.issuer)
  return oidc.discovery(
    issuer,
    settings.client_id,
    { [oidc.clockTolerance]: clockToleranceSeconds },
    oidc.ClientSecretBasic(settings.client_secret.reveal()),
    {
      timeout: timeoutSeconds,
      [oidc.customFetch]: boundedFetch,
      // By default, the library does not check the signature of an ID token that comes over TLS.
      execute: [
        oidc.enableNonRepudiationChecks,
        ...(issuer.protocol === 'http:' ? [oidc.allowInsecureRequests] : []),
      ],
    },
  )
}

/**
 * Exchanges a code, and reads the user info where the provider has it, because some providers put most claims
 * there.
 */
async function exchange(
  configuration: oidc.Configuration,
  callback: URL,
  { state, nonce, verifier }: Flow,
): Promise<ProviderAnswer> {
  const tokens = await oidc.authorizationCodeGrant(configuration, callback, {
    pkceCodeVerifier: verifier,
    expectedState: state,
    expectedNonce: nonce,
    idTokenExpected: true,
  })
  const claims = tokens.claims()
  if (!claims) throw refused('not_verified')
  const { issuer, userinfo_endpoint } = configuration.serverMetadata()
  const userInfo =
    userinfo_endpoint === undefined
      ? {}
      : await oidc.fetchUserInfo(configuration, tokens.access_token, claims.sub)
  return {
    issuer: new URL(issuer).href,
    subject: claims.sub,
    claims: { ...userInfo, ...claims },
    sessionId: typeof claims.sid === 'string' ? claims.sid : null,
    expiresAt: new Date(claims.exp * 1000),
  }
}

/** Reads the claims of a logout token. @throws Error when the claims belong to another kind of token */
function logoutOf({ sub, sid, iat = 0, nonce, events }: JWTPayload): Omit<ProviderLogout, 'issuer'> {
  const isLogout = typeof events === 'object' && events !== null && logoutEvent in events
  // A token with a nonce is an ID token that pretends to be a logout token.
  if (!isLogout || nonce !== undefined) throw new Error('the token is not a logout token')
  const sessionId = typeof sid === 'string' ? sid : undefined
  if (sub === undefined && sessionId === undefined)
    throw new Error('the token names neither a subject nor a session')
  return { subject: sub, sessionId, issuedAt: new Date(iat * 1000) }
}

const away = (cause: unknown): never => {
  throw refused('unavailable', cause)
}

/** Returns why a code could not be exchanged, in terms that the person at the browser can act on. */
function refusedExchange(error: unknown): SignInRefused {
  if (error instanceof SignInRefused) return error
  if (error instanceof oidc.AuthorizationResponseError)
    return refused(error.error === 'access_denied' ? 'denied' : 'not_verified', error)
  if (error instanceof oidc.ResponseBodyError)
    return refused(error.status >= 500 ? 'unavailable' : 'not_verified', error)
  // fetch throws a TypeError with a cause when no server answers; OAUTH_TIMEOUT is for slow answers.
  const isSilent = error instanceof TypeError && error.cause instanceof Error
  const code = error instanceof oidc.ClientError ? error.code : undefined
  return refused(isSilent || code === 'OAUTH_TIMEOUT' ? 'unavailable' : 'not_verified', error)
}
