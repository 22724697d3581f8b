import { createHmac } from 'node:crypto'
import type { RolePasswords } from './apply-roles.js'
import { type DatabaseService, databaseServices, roleOf } from './table-access.js'

/** A password for each role, derived from one secret. A password reveals neither another password nor the secret. */
export const derivePasswords = (secret: string): RolePasswords =>
  Object.fromEntries(
    databaseServices.map((service) => [
      service,
      createHmac('sha256', secret).update(roleOf(service)).digest('base64url'),
    ]),
  ) as RolePasswords

/** The URL of the same database for the role of a service. */
export function serviceUrl(url: string, service: DatabaseService, password: string): string {
  const changed = new URL(url)
  changed.username = roleOf(service)
  changed.password = password
  return changed.href
}
