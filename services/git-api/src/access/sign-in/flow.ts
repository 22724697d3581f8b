import { hkdfSync } from 'node:crypto'
import { type Call, cookieOf } from '@switchyard/service-kit/http'
import { EncryptJWT, jwtDecrypt } from 'jose'
import * as oidc from 'openid-client'
import { z } from 'zod'
import type { SignInProvider } from '../../sign-in-config.js'

const flowShape = z.object({
  state: z.string(),
  nonce: z.string(),
  /** The verifier of PKCE: only the browser that began the sign-in can use the code. */
  verifier: z.string(),
  /** Address of the console to which the browser goes afterwards. */
  next: z.string(),
  /** The session whose user gets the account at the provider linked. Unset: the flow is a sign-in. */
  link: z.object({ userId: z.number(), tokenId: z.number(), sessionId: z.number() }).optional(),
})

/** A sign-in between its start and the return of the browser. */
export type Flow = z.output<typeof flowShape>

/** Time limit for the steps at the provider. */
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

/**
 * Returns the address to go to afterwards. It accepts only addresses of the console, so that a link to the
 * sign-in cannot lead to another site.
 */
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
 * Stores a flow in an encrypted cookie, so that no other browser can finish the sign-in and nobody can change
 * which user is linked. The cookie is `SameSite=Lax` because the browser comes back from another site.
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
 * Returns the flow that this browser began at the provider, and deletes its cookie; null: there is no flow,
 * or it has expired.
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
