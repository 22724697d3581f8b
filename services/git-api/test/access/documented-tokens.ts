import type { JobIssuer, openDocumentedApi } from '@switchyard/testing'

type Api = Awaited<ReturnType<typeof openDocumentedApi>>

const idOf = (answer: { body: unknown }) => (answer.body as { id: number }).id

/** Calls every documented operation of deploy tokens. */
export async function callDeployTokens(api: Api, path: { id: number }) {
  const tokens = '/projects/{id}/deploy_tokens'
  const body = { name: 'deploy', scopes: ['read_repository'], expires_at: '2999-12-31' }
  const token = { ...path, token_id: idOf(await api.call(`POST ${tokens}`, { path, body })) }
  await api.call(`GET ${tokens}`, { path, query: { active: 'true' } })
  await api.call(`GET ${tokens}/{token_id}`, { path: token })
  await api.call('GET /deploy_tokens')
  await api.call(`DELETE ${tokens}/{token_id}`, { path: token })
}

/** Calls every documented operation of the rules about CI jobs and of the token exchange. */
export async function callTrustedIssuers(api: Api, path: { id: number }, issuer: JobIssuer) {
  const common = { name: 'ci', issuer: issuer.url, audience: 'ci', claims: { sub: 'build:*' } }
  const places = [
    { at: '/projects/{id}/trusted_issuers', path, body: { ...common, scopes: ['api'] } },
    { at: '/trusted_issuers', path: {}, body: { ...common, scopes: ['saga_report'], tenants: ['acme'] } },
  ]
  for (const { at, ...given } of places) {
    const rule = { ...given.path, trusted_issuer_id: idOf(await api.call(`POST ${at}`, given)) }
    await api.call(`GET ${at}`, { path: given.path })
    await api.call(`GET ${at}/{trusted_issuer_id}`, { path: rule })
    const exchanged = {
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
      subject_token: await issuer.token({ sub: 'build:1', aud: 'ci', jti: at }),
      ...('id' in given.path && { resource: String(given.path.id) }),
    }
    const { status } = await api.call('POST /oidc/exchange', { token: null, body: exchanged })
    if (status !== 200) throw new Error(`the identity token was not exchanged: ${status}`)
    await api.call(`DELETE ${at}/{trusted_issuer_id}`, { path: rule })
  }
}
