import { publicKeyAlgorithms } from '@switchyard/domain/access'
import { createRemoteJWKSet, type JWTPayload, jwtVerify } from 'jose'
import * as oidc from 'openid-client'
import type { SignInProvider } from '../../sign-in-config.js'
import type { Flow } from './flow.js'
import { refused, SignInRefused } from './refusals.js'

/** What a provider has said about who signs in. */
export interface ProviderAnswer {
  issuer: string
  subject: string
  /** Of the ID token and of the user info, of which the ID token counts more. */
  claims: Record<string, unknown>
  /** The session at the provider; null: it has named none. */
  sessionId: string | null
  expiresAt: Date
}

/** What a verified logout token ends: all sessions of a subject, or one session. */
interface ProviderLogout {
  issuer: string
  subject: string | undefined
  sessionId: string | undefined
  /** Sessions that began later stay. */
  issuedAt: Date
}

export interface Provider {
  settings: SignInProvider
  /**
   * Address at the provider where a sign-in begins.
   *
   * @throws SignInRefused when the provider does not answer
   */
  authorizationUrl(flow: Flow): Promise<string>
  /** Exchanges the code of a callback. @throws SignInRefused */
  finish(flow: Flow, query: string): Promise<ProviderAnswer>
  /** Address at the provider that ends its session; null: it has none. */
  endSessionUrl(): Promise<string | null>
  /** Verifies a logout token. @throws Error */
  readLogout(token: string): Promise<ProviderLogout>
}

const timeoutSeconds = 10
/** Clocks of the provider and this installation may differ by so much. */
export const clockToleranceSeconds = 150
const answerBytesMax = 2 * 1024 * 1024
const metadataMs = 60_000
const logoutSecondsMax = 10 * 60

const logoutEvent = 'http://schemas.openid.net/event/backchannel-logout'

/** An answer of bounded length, as one without a bound could fill the memory. */
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

/** @param baseUrl of this installation */
export function createProvider(settings: SignInProvider, baseUrl: string): Provider {
  const redirectUri = `${baseUrl}/api/v4/sign_in/${settings.name}/callback`
  const metadata = remembered(() => discover(settings))
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
      // Asked anew each time, with the keys: so new keys of the provider count at once.
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

/** The issuer as identities have it: in one form, with or without a slash at the end of the setting. */
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
      // Without this, the signature of an ID token that comes over TLS is not checked.
      execute: [
        oidc.enableNonRepudiationChecks,
        ...(issuer.protocol === 'http:' ? [oidc.allowInsecureRequests] : []),
      ],
    },
  )
}

/**
 * Exchanges a code, and asks for the user info where the provider has it: some providers put most claims
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

/** @throws Error when the claims are not those of a logout token */
function logoutOf({ sub, sid, iat = 0, nonce, events }: JWTPayload): Omit<ProviderLogout, 'issuer'> {
  const isLogout = typeof events === 'object' && events !== null && logoutEvent in events
  // With a nonce, it is an ID token in disguise.
  if (!isLogout || nonce !== undefined) throw new Error('it is no logout token')
  const sessionId = typeof sid === 'string' ? sid : undefined
  if (sub === undefined && sessionId === undefined)
    throw new Error('it names neither a subject nor a session')
  return { subject: sub, sessionId, issuedAt: new Date(iat * 1000) }
}

/** Asks once a minute at most, and once for all who wait. A failure is not remembered. */
function remembered<Value>(ask: () => Promise<Value>): () => Promise<Value> {
  let answer: { value: Promise<Value>; untilMs: number } | undefined
  return () => {
    if (answer && Date.now() < answer.untilMs) return answer.value
    const value = ask()
    const asked = { value, untilMs: Date.now() + metadataMs }
    answer = asked
    value.catch(() => {
      if (answer === asked) answer = undefined
    })
    return value
  }
}

const away = (cause: unknown): never => {
  throw refused('unavailable', cause)
}

/** Why a code could not be exchanged, as far as the person at the browser can do something about it. */
function refusedExchange(error: unknown): SignInRefused {
  if (error instanceof SignInRefused) return error
  if (error instanceof oidc.AuthorizationResponseError)
    return refused(error.error === 'access_denied' ? 'denied' : 'not_verified', error)
  if (error instanceof oidc.ResponseBodyError)
    return refused(error.status >= 500 ? 'unavailable' : 'not_verified', error)
  // What fetch throws when nobody answers, and what ends an answer that takes too long.
  const isSilent = error instanceof TypeError && error.cause instanceof Error
  const code = error instanceof oidc.ClientError ? error.code : undefined
  return refused(isSilent || code === 'OAUTH_TIMEOUT' ? 'unavailable' : 'not_verified', error)
}
