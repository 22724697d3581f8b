import { ConfigError, loadConfig } from '@switchyard/config'
import { describe, expect, it } from 'vitest'
import { configSchema } from './config.js'
import { providersOf } from './sign-in-config.js'

const needed = {
  DATABASE_URL: 'postgresql://user:password@localhost/switchyard',
  REDIS_URL: 'redis://localhost',
  SWITCHYARD_STORAGE_ROOT: '/srv/repositories',
}
const provider = {
  EXTERNAL_URL: 'https://switchyard.example.com',
  OIDC_ISSUER: 'https://login.example.com/realms/acme',
  OIDC_CLIENT_ID: 'switchyard',
  OIDC_CLIENT_SECRET: 'a-secret-of-tests',
}
const load = (env: Record<string, string>) =>
  loadConfig('git-api', configSchema as never, { ...needed, ...env }) as ReturnType<typeof configSchema.parse>

function problemsOf(env: Record<string, string>): string[] {
  try {
    load(env)
    return []
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError)
    return (error as ConfigError).message
      .split('\n')
      .slice(1)
      .map((line) => line.trim())
  }
}

describe('settings of single sign-on', () => {
  it('are off unless a provider is configured', () => {
    const config = load({})
    expect(providersOf(config)).toEqual([])
    expect(config.TOKEN_SIGN_IN).toBe('everybody')
  })

  it('are off with only a secret and an empty list, which files may hold', () => {
    expect(providersOf(load({ OIDC_CLIENT_SECRET: 'unused', OIDC_PROVIDERS: '[]' }))).toEqual([])
  })

  it('configure one provider with plain variables, which creates no accounts by default', () => {
    const [only] = providersOf(load(provider))
    expect(only).toMatchObject({
      issuer: provider.OIDC_ISSUER,
      name: 'sso',
      scopes: 'openid profile email',
      username_claim: 'preferred_username',
      create_users: false,
      admin_groups: [],
      group_roles: [],
    })
    expect(JSON.stringify(only)).not.toContain(provider.OIDC_CLIENT_SECRET)
    expect(only?.client_secret.reveal()).toBe(provider.OIDC_CLIENT_SECRET)
  })

  it('read groups, roles and domains', () => {
    const [only] = providersOf(
      load({
        ...provider,
        OIDC_GROUPS_CLAIM: 'groups',
        OIDC_ADMIN_GROUPS: 'ops, /root',
        OIDC_GROUP_ROLES: 'eng=developer:Acme/*, cn=x=maintainer:*',
        OIDC_ALLOWED_DOMAINS: 'Example.com,example.org',
        OIDC_CREATE_USERS: 'true',
      }),
    )
    expect(only).toMatchObject({
      admin_groups: ['ops', '/root'],
      group_roles: [
        { group: 'eng', level: 30, pattern: 'acme/*' },
        { group: 'cn=x', level: 40, pattern: '*' },
      ],
      allowed_domains: ['example.com', 'example.org'],
      create_users: true,
    })
  })

  it('configure several providers as JSON, where lists may hold commas', () => {
    const list = [
      {
        name: 'company',
        issuer: 'https://a.example',
        client_id: 'a',
        client_secret: 's',
        groups_claim: 'groups',
        admin_groups: ['cn=ops,ou=groups'],
        session_seconds_max: 0,
      },
      {
        name: 'partners',
        issuer: 'https://b.example',
        client_id: 'b',
        client_secret: 't',
        label: 'Partners',
      },
    ]
    const { EXTERNAL_URL } = provider
    const found = providersOf(load({ EXTERNAL_URL, OIDC_PROVIDERS: JSON.stringify(list) }))
    expect(found.map(({ name, label }) => [name, label])).toEqual([
      ['company', 'Single sign-on'],
      ['partners', 'Partners'],
    ])
    expect(found[0]).toMatchObject({ admin_groups: ['cn=ops,ou=groups'], session_seconds_max: 0 })
  })

  const { OIDC_CLIENT_SECRET: _secret, ...withoutSecret } = provider
  const { EXTERNAL_URL: _url, ...withoutAddress } = provider

  it.each<[string, Record<string, string>, string]>([
    ['no secret', withoutSecret, 'OIDC_CLIENT_SECRET is required: set it, or unset OIDC_ISSUER'],
    ['no address', withoutAddress, 'EXTERNAL_URL is required: single sign-on needs it'],
    [
      'no TLS',
      { ...provider, OIDC_ISSUER: 'http://login.example.com' },
      'OIDC_ISSUER: must be a URL such as',
    ],
    [
      'a role that is none',
      { ...provider, OIDC_GROUPS_CLAIM: 'g', OIDC_GROUP_ROLES: 'eng=king:*' },
      'OIDC_GROUP_ROLES: must be rules',
    ],
    [
      'groups without a claim',
      { ...provider, OIDC_ADMIN_GROUPS: 'ops' },
      'OIDC_GROUPS_CLAIM is required: groups',
    ],
    ['scopes without openid', { ...provider, OIDC_SCOPES: 'profile' }, 'OIDC_SCOPES: must be words'],
    ['no JSON', { OIDC_PROVIDERS: '{' }, 'OIDC_PROVIDERS: must be a JSON list of providers: this is no JSON'],
    [
      'an unknown key',
      { OIDC_PROVIDERS: '[{"secret":"x"}]' },
      'OIDC_PROVIDERS: must be a JSON list of providers: ',
    ],
    [
      'both forms',
      {
        ...provider,
        OIDC_PROVIDERS: '[{"name":"a","issuer":"https://a.example","client_id":"a","client_secret":"s"}]',
      },
      'OIDC_PROVIDERS: unset it',
    ],
    ['nobody could come in', { TOKEN_SIGN_IN: 'administrators' }, 'TOKEN_SIGN_IN: must be everybody while'],
  ])('refuse to start, naming the variable: %s', (_what, env, problem) => {
    expect(problemsOf(env)).toEqual([expect.stringContaining(problem)])
  })
})
