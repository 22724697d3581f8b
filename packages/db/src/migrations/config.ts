import { databaseUrl, integer, type Secret, secretField } from '@switchyard/config'
import { z } from 'zod'
import { databaseServices, passwordVariableOf, type RolePasswords } from '../roles/index.js'

const passwordFields = Object.fromEntries(
  databaseServices.map((service) => [
    passwordVariableOf(service),
    secretField(z.string())
      .optional()
      .describe(`Password of the role that ${service} logs in as. Unset in all: no roles are made`),
  ]),
)

/** The environment of the migration. Either all passwords of the services' roles are set, or none. */
export const configSchema = z
  .object({
    DATABASE_URL: databaseUrl().describe(
      '`postgresql://user:password@host:port/database`; the user owns the schema',
    ),
    MIGRATION_LOCK_TIMEOUT_MS: integer(10, 60_000)
      .default(2000)
      .describe(
        'How long a change of a table waits for those who use it, while writers wait behind it. Then it is tried again, 30 times',
      ),
    ...passwordFields,
    POSTGRES_PASSWORD_MONITORING: secretField(z.string())
      .optional()
      .describe(
        'Password of the role `switchyard_monitoring`, which an exporter of figures logs in as. Unset: it is not made',
      ),
  })
  .superRefine((config, context) => {
    const missing = Object.keys(passwordFields).filter((name) => !(name in config))
    if (missing.length === databaseServices.length) return
    for (const name of missing)
      context.addIssue({ code: 'custom', path: [name], message: 'set all passwords of services or none' })
  })

export type Config = z.output<typeof configSchema>

/**
 * Returns the passwords of the services' roles; null when none is set. Without them, all services log in as
 * the user of DATABASE_URL.
 */
export function rolePasswordsOf(config: Config): RolePasswords | null {
  const { DATABASE_URL: _url, MIGRATION_LOCK_TIMEOUT_MS: _timeout, ...rest } = config
  const secrets: Record<string, Secret | undefined> = rest
  const passwords = databaseServices.map((service) => [
    service,
    secrets[passwordVariableOf(service)]?.reveal(),
  ])
  return passwords[0]?.[1] === undefined ? null : (Object.fromEntries(passwords) as RolePasswords)
}
