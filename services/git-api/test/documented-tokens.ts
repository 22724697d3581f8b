import type { openDocumentedApi } from '@switchyard/testing'

type Api = Awaited<ReturnType<typeof openDocumentedApi>>

const idOf = (answer: { body: unknown }) => (answer.body as { id: number }).id

/** Calls every operation of deploy tokens as it is documented. */
export async function callDeployTokens(api: Api, path: { id: number }) {
  const tokens = '/projects/{id}/deploy_tokens'
  const body = { name: 'deploy', scopes: ['read_repository'], expires_at: '2999-12-31' }
  const token = { ...path, token_id: idOf(await api.call(`POST ${tokens}`, { path, body })) }
  await api.call(`GET ${tokens}`, { path, query: { active: 'true' } })
  await api.call(`GET ${tokens}/{token_id}`, { path: token })
  await api.call('GET /deploy_tokens')
  await api.call(`DELETE ${tokens}/{token_id}`, { path: token })
}

/** The same for the rules about CI jobs. */
export async function callTrustedIssuers(api: Api, path: { id: number }) {
  const common = { name: 'ci', issuer: 'https://ci.example.com', claims: { sub: 'build:*' } }
  const places = [
    { at: '/projects/{id}/trusted_issuers', path, body: { ...common, scopes: ['api'] } },
    { at: '/trusted_issuers', path: {}, body: { ...common, scopes: ['saga_report'], tenants: ['acme'] } },
  ]
  for (const { at, ...given } of places) {
    const rule = { ...given.path, trusted_issuer_id: idOf(await api.call(`POST ${at}`, given)) }
    await api.call(`GET ${at}`, { path: given.path })
    await api.call(`GET ${at}/{trusted_issuer_id}`, { path: rule })
    await api.call(`DELETE ${at}/{trusted_issuer_id}`, { path: rule })
  }
}
