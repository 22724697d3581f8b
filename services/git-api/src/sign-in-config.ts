import { booleanFlag, integer, markSecret, Secret, secretField } from '@switchyard/config'
import { accessLevels } from '@switchyard/domain/access'
import { z } from 'zod'

const loopback = /^(?:localhost|127\.0\.0\.1|\[::1\])$/

/** Requires TLS, or this machine, because the provider's answers decide who may sign in. */
const isIssuer = (text: string) => {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || `${url.search}${url.hash}` !== '') return false
  return url.protocol === 'https:' || (url.protocol === 'http:' && loopback.test(url.hostname))
}

/** Texts separated by commas. In JSON, a list is possible instead, whose texts may contain commas. */
const texts = () =>
  z.preprocess(
    (given) => (typeof given === 'string' ? given.split(',') : given),
    z
      .array(z.string('must be texts, separated by commas'), 'must be texts, separated by commas')
      .transform((list) => list.map((text) => text.trim()).filter((text) => text !== '')),
  )

const roles = ['guest', 'reporter', 'developer', 'maintainer'] as const
const roleRule = /^(.+)=(guest|reporter|developer|maintainer):([\w.*-]+(?:\/[\w.*-]+)?)$/
const roleRuleText = `must be rules such as engineering=developer:acme/*, with the roles ${roles.join(', ')}`

const groupRoles = () =>
  texts()
    .refine((rules) => rules.every((rule) => roleRule.test(rule)), roleRuleText)
    .transform((rules) =>
      rules.map((rule) => {
        const [, group = '', role = '', pattern = ''] = roleRule.exec(rule) ?? []
        return { group, level: accessLevels[role as (typeof roles)[number]], pattern: pattern.toLowerCase() }
      }),
    )

const domains = () =>
  texts()
    .transform((list) => list.map((domain) => domain.toLowerCase()))
    .refine(
      (list) => list.every((domain) => /^[a-z0-9-]+(\.[a-z0-9-]+)*$/.test(domain)),
      'must be domains such as example.com, separated by commas',
    )

const claim = () => z.string().regex(/^[\w.:/@-]{1,200}$/, 'must be the name of a claim')
const flag = () => z.union([z.boolean().transform(String), z.string()]).pipe(booleanFlag())
const seconds = () => z.union([z.int().transform(String), z.string()]).pipe(integer(0, 366 * 86_400))

const nameText = 'must be 1 to 32 lower-case letters, digits and hyphens'

const issuer = () =>
  z
    .string('must be a URL')
    .refine(isIssuer, 'must be a URL such as https://login.example.com, with http on this machine only')
const clientId = () => z.string('must be a text').regex(/^\S{1,255}$/, 'must be 1 to 255 characters')
const clientSecret = () => secretField(z.string('must be a text').min(1))

/** The optional settings of a provider, with their defaults and meanings. */
const further = {
  name: z
    .string()
    .regex(/^[a-z0-9-]{1,32}$/, nameText)
    .default('sso')
    .describe('Name of the provider in addresses, such as `/api/v4/sign_in/sso/callback`'),
  label: z
    .string()
    .regex(/^[^\p{Cc}\p{Cf}]{1,64}$/u, 'must be 1 to 64 printable characters')
    .default('Single sign-on')
    .describe('Text of the button on the sign-in page'),
  scopes: z
    .string()
    .regex(/^openid( [\x21-\x7e]+)*$/, 'must be words separated by spaces, of which the first is openid')
    .default('openid profile email')
    .describe('Scopes that are requested from the provider'),
  username_claim: claim().default('preferred_username').describe('Claim with the user name'),
  name_claim: claim().default('name').describe('Claim with the name'),
  email_claim: claim()
    .default('email')
    .describe('Claim with the e-mail address, which counts only with `email_verified`'),
  groups_claim: claim()
    .optional()
    .describe(
      'Claim with the groups, such as `groups`; dots lead into objects (`realm_access.roles`). Unset: groups do not count',
    ),
  admin_groups: texts().default([]).describe('Groups whose members are administrators, separated by commas'),
  group_roles: groupRoles()
    .default([])
    .describe(
      'Roles in projects by group, separated by commas: `engineering=developer:acme/*, ops=maintainer:*`; see [groups](single-sign-on.md#groups)',
    ),
  allowed_domains: domains()
    .default([])
    .describe('Only users with a verified e-mail address in these domains may sign in. Unset: any'),
  allowed_groups: texts().default([]).describe('Only members of these groups may sign in. Unset: any'),
  create_users: flag()
    .default(false)
    .describe('`true` creates an account at the first sign-in. `false`: accounts are linked'),
  session_seconds_max: seconds()
    .default(12 * 3600)
    .describe('A session ends after this time at the latest. `0`: with the ID token of the provider'),
}

const provider = z.strictObject({
  ...further,
  name: z.string(nameText).regex(/^[a-z0-9-]{1,32}$/, nameText),
  issuer: issuer(),
  client_id: clientId(),
  client_secret: clientSecret(),
})

/** A provider of OpenID Connect by which users sign in. */
export type SignInProvider = z.output<typeof provider>

const providers = z
  .array(provider, 'must be a list')
  .refine((list) => new Set(list.map(({ name }) => name)).size === list.length, 'names must differ')

/** Providers as JSON, which is a secret as a whole. The error names every problem but no value. */
const providerList = () =>
  markSecret(
    z.string().transform((text, context) => {
      const list = jsonOf(text)
      const parsed = list === undefined ? undefined : providers.safeParse(list)
      if (parsed?.success) return parsed.data
      const problems = parsed?.error.issues.map(({ path, message }) => [...path, message].join(' '))
      context.addIssue(
        `must be a JSON list of providers: ${[...new Set(problems ?? ['this is no JSON'])].join('; ')}`,
      )
      return z.NEVER
    }),
  )

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Variables of single sign-on: one provider with plain variables, or several as JSON. */
export const signInFields = {
  OIDC_ISSUER: issuer()
    .optional()
    .describe('Issuer URL of a [single sign-on](single-sign-on.md) provider. Unset: no provider'),
  OIDC_CLIENT_ID: clientId()
    .optional()
    .describe('Client id with which Switchyard is registered at the provider'),
  OIDC_CLIENT_SECRET: clientSecret()
    .optional()
    .describe('Client secret that the provider issued for Switchyard'),
  OIDC_NAME: further.name,
  OIDC_LABEL: further.label,
  OIDC_SCOPES: further.scopes,
  OIDC_USERNAME_CLAIM: further.username_claim,
  OIDC_NAME_CLAIM: further.name_claim,
  OIDC_EMAIL_CLAIM: further.email_claim,
  OIDC_GROUPS_CLAIM: further.groups_claim,
  OIDC_ADMIN_GROUPS: further.admin_groups,
  OIDC_GROUP_ROLES: further.group_roles,
  OIDC_ALLOWED_DOMAINS: further.allowed_domains,
  OIDC_ALLOWED_GROUPS: further.allowed_groups,
  OIDC_CREATE_USERS: further.create_users,
  OIDC_SESSION_SECONDS_MAX: further.session_seconds_max,
  OIDC_PROVIDERS: providerList()
    .optional()
    .describe(
      'Several providers as JSON, in place of the variables above: see [single sign-on](single-sign-on.md#several-providers)',
    ),
  TOKEN_SIGN_IN: z
    .enum(['everybody', 'administrators'], 'must be everybody or administrators')
    .default('everybody')
    .describe(
      'Who may start a browser session with a token: `everybody` or `administrators`. Calls with a token are not affected',
    ),
}

type SignInConfig = z.output<z.ZodObject<typeof signInFields>> & { EXTERNAL_URL?: string | undefined }

type Problem = [variable: string, problem: string]

/** Returns problems that concern several variables of single sign-on. */
export function signInProblems(config: SignInConfig): Problem[] {
  const { OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET } = config
  const OIDC_PROVIDERS = severalOf(config)
  const single = Object.entries({ OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET })
  // A secret alone configures no provider: an installation may have an unused one in a file.
  const given = single.find(([name, value]) => value !== undefined && name !== 'OIDC_CLIENT_SECRET')?.[0]
  if (!given && !OIDC_PROVIDERS) {
    const problem = 'must be everybody while no provider is set (OIDC_ISSUER, OIDC_PROVIDERS)'
    return config.TOKEN_SIGN_IN === 'everybody' ? [] : [['TOKEN_SIGN_IN', problem]]
  }
  const missing = given ? single.filter(([, value]) => value === undefined) : []
  return [
    ...missing.map(([variable]): Problem => [variable, `set it, or unset ${given}`]),
    ...problemIf(given && OIDC_PROVIDERS, 'OIDC_PROVIDERS', `unset it, or unset ${given}`),
    ...problemIf(
      config.EXTERNAL_URL === undefined,
      'EXTERNAL_URL',
      'single sign-on needs it, because the provider sends browsers back there',
    ),
    ...problemIf(
      providersOf(config).some(lacksGroupsClaim),
      OIDC_PROVIDERS ? 'OIDC_PROVIDERS' : 'OIDC_GROUPS_CLAIM',
      'groups are named, and no claim that has them',
    ),
  ]
}

const problemIf = (isWrong: unknown, ...problem: Problem): Problem[] => (isWrong ? [problem] : [])

const lacksGroupsClaim = ({ allowed_groups, admin_groups, group_roles, groups_claim }: SignInProvider) =>
  !groups_claim && allowed_groups.length + admin_groups.length + group_roles.length > 0

/** Returns the providers of the JSON list; undefined for an empty list. */
const severalOf = ({ OIDC_PROVIDERS: list }: SignInConfig) => (list && list.length > 0 ? list : undefined)

/** Returns the providers of single sign-on; empty: there is none. */
export function providersOf(config: SignInConfig): SignInProvider[] {
  const { OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET } = config
  const several = severalOf(config)
  if (several) return several
  if (OIDC_ISSUER === undefined) return []
  return [
    {
      issuer: OIDC_ISSUER,
      client_id: OIDC_CLIENT_ID ?? '',
      client_secret: OIDC_CLIENT_SECRET ?? new Secret(''),
      name: config.OIDC_NAME,
      label: config.OIDC_LABEL,
      scopes: config.OIDC_SCOPES,
      username_claim: config.OIDC_USERNAME_CLAIM,
      name_claim: config.OIDC_NAME_CLAIM,
      email_claim: config.OIDC_EMAIL_CLAIM,
      groups_claim: config.OIDC_GROUPS_CLAIM,
      admin_groups: config.OIDC_ADMIN_GROUPS,
      group_roles: config.OIDC_GROUP_ROLES,
      allowed_domains: config.OIDC_ALLOWED_DOMAINS,
      allowed_groups: config.OIDC_ALLOWED_GROUPS,
      create_users: config.OIDC_CREATE_USERS,
      session_seconds_max: config.OIDC_SESSION_SECONDS_MAX,
    },
  ]
}
