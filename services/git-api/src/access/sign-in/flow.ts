import { hkdfSync } from 'node:crypto'
import { type Call, cookieOf } from '@switchyard/service-kit/http'
import { EncryptJWT, jwtDecrypt } from 'jose'
import * as oidc from 'openid-client'
import { z } from 'zod'
import type { SignInProvider } from '../../sign-in-config.js'

const flowShape = z.object({
  state: z.string(),
  nonce: z.string(),
  /** Of PKCE: only the browser that began can use the code. */
  verifier: z.string(),
  /** Address of the console that is shown afterwards. */
  next: z.string(),
  /** The session for whose user the account at the provider is linked. Unset: somebody signs in. */
  link: z.object({ userId: z.number(), tokenId: z.number(), sessionId: z.number() }).optional(),
})

/** A sign-in between its beginning and the return of the browser. */
export type Flow = z.output<typeof flowShape>

/** Time that somebody has at the provider. */
const flowSeconds = 15 * 60
const name = 'switchyard_sign_in'

export const newFlow = (given: Pick<Flow, 'next' | 'link'>): Flow => ({
  state: oidc.randomState(),
  nonce: oidc.randomNonce(),
  verifier: oidc.randomPKCECodeVerifier(),
  ...given,
})

const nextCharsMax = 1500
const overview = '/console/'

/** Only addresses of the console are followed, so that a link to the sign-in cannot lead to another site. */
export function consoleAddress(next: string | undefined, baseUrl: string): string {
  const url =
    next && next.length <= nextCharsMax && URL.canParse(next, baseUrl) ? new URL(next, baseUrl) : null
  const isOurs = url?.origin === new URL(baseUrl).origin && /^\/console(\/|$)/.test(url.pathname)
  return isOurs ? `${url.pathname}${url.search}${url.hash}` : overview
}

const keyOf = ({ client_secret }: SignInProvider) =>
  new Uint8Array(hkdfSync('sha256', client_secret.reveal(), '', 'switchyard sign-in flow', 32))

type FlowCall = Pick<Call, 'baseUrl' | 'raw'>

const isSecure = (baseUrl: string) => baseUrl.startsWith('https:')
const nameFor = (baseUrl: string) => (isSecure(baseUrl) ? `__Host-${name}` : name)
const optionsFor = (baseUrl: string) =>
  ({ httpOnly: true, sameSite: 'lax', path: '/', secure: isSecure(baseUrl) }) as const

/**
 * Keeps a flow in a cookie of the browser, encrypted, so that another browser cannot end the sign-in, and
 * nobody can change whom it links. The cookie is `SameSite=Lax`: the browser comes back from another site.
 */
export async function keepFlow(
  { raw, baseUrl }: FlowCall,
  provider: SignInProvider,
  flow: Flow,
): Promise<void> {
  const sealed = await new EncryptJWT(flow)
    .setProtectedHeader({ alg: 'dir', enc: 'A256GCM' })
    .setAudience(provider.name)
    .setExpirationTime(`${flowSeconds} seconds`)
    .encrypt(keyOf(provider))
  raw.response.cookie(nameFor(baseUrl), sealed, { ...optionsFor(baseUrl), maxAge: flowSeconds * 1000 })
}

/**
 * The flow that this browser has begun at the provider, which it forgets; null: none, or its time is over.
 */
export async function takeFlow({ raw, baseUrl }: FlowCall, provider: SignInProvider): Promise<Flow | null> {
  const cookie = nameFor(baseUrl)
  const sealed = cookieOf(raw.request.headers, cookie)
  if (sealed === undefined) return null
  raw.response.clearCookie(cookie, optionsFor(baseUrl))
  try {
    const { payload } = await jwtDecrypt(sealed, keyOf(provider), {
      audience: provider.name,
      keyManagementAlgorithms: ['dir'],
      contentEncryptionAlgorithms: ['A256GCM'],
    })
    return flowShape.parse(payload)
  } catch {
    return null
  }
}
