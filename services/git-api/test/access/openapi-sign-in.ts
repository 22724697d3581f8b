import type { openDocumentedApi } from '@switchyard/testing'
import { signLogout } from './logout-token.js'
import type { SignIn } from './sign-in-harness.js'

type DocumentedApi = Awaited<ReturnType<typeof openDocumentedApi>>

export async function callSession(api: DocumentedApi, { harness }: SignIn) {
  const headers = { 'Sec-Fetch-Site': 'same-origin' }
  const body = { token: harness.tokens.user }
  const begun = await api.call('POST /session', { token: null, headers, body })
  const Cookie = begun.headers.getSetCookie()[0]?.split(';', 1)[0] ?? ''
  await api.call('GET /session', { token: null, headers: { Cookie } })
  await api.call('GET /session', { token: null })
  await api.call('DELETE /session', { token: null, headers: { ...headers, Cookie } })
}

/** Calls every operation of single sign-on. @param user the id of a user */
export async function callSignIn(api: DocumentedApi, { harness, provider }: SignIn, user: number) {
  const idOf = (answer: { body: unknown }) => (answer.body as { id: number }).id
  await api.call('GET /sign_in', { token: null })
  const path = { provider: 'open' }
  await api.call('GET /sign_in/{provider}', { path, token: null, query: { next: '/console/projects' } })
  await api.call('GET /sign_in/{provider}/callback', { path, token: null, query: { code: 'any' } })
  await api.call('GET /sign_in/{provider}/sign_out', { path, token: null })
  const logout_token = await signLogout(provider, { sub: 'nobody' })
  await api.call('POST /sign_in/{provider}/backchannel_logout', { path, token: null, body: { logout_token } })
  const body = { provider: 'open', extern_uid: 'documented' }
  const linked = idOf(await api.call('POST /users/{id}/identities', { path: { id: user }, body }))
  await api.call('GET /users/{id}/identities', { path: { id: user } })
  await api.call('DELETE /users/{id}/identities/{identity_id}', { path: { id: user, identity_id: linked } })
  const own = { path: { id: harness.users.admin.id }, body }
  const identity_id = idOf(await api.call('POST /users/{id}/identities', own))
  await api.call('GET /user/identities')
  await api.call('DELETE /user/identities/{identity_id}', { path: { identity_id } })
  const headers = { 'Sec-Fetch-Site': 'same-origin' }
  const begun = await api.call('POST /session', {
    token: null,
    headers,
    body: { token: harness.tokens.user },
  })
  const Cookie = begun.headers.getSetCookie()[0]?.split(';', 1)[0] ?? ''
  const own_token = { name: 'own', scopes: ['read_api'] }
  const mine = { token: null, headers: { ...headers, Cookie }, body: own_token }
  await api.call('POST /user/personal_access_tokens', mine)
  await callDeviceAuthorization(api, harness.baseUrl, { ...headers, Cookie })
  const asked = { provider: 'open', next: '/console/account' }
  await api.call('POST /user/identities', { token: null, headers: { ...headers, Cookie }, body: asked })
}

async function callDeviceAuthorization(api: DocumentedApi, url: string, headers: Record<string, string>) {
  const codeOfProgram = async () => {
    const body = new URLSearchParams({ client_id: 'documented' })
    const answer = await fetch(`${url}/oauth/authorize_device`, { method: 'POST', body })
    return ((await answer.json()) as { user_code: string }).user_code
  }
  const [allowed, denied] = [await codeOfProgram(), await codeOfProgram()]
  const person = { token: null, headers }
  await api.call('GET /user/device_authorization', { ...person, query: { user_code: allowed } })
  await api.call('POST /user/device_authorization/allow', { ...person, body: { user_code: allowed } })
  await api.call('POST /user/device_authorization/deny', { ...person, body: { user_code: denied } })
}
