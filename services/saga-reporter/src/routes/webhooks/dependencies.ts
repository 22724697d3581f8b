import type { Database, WebhookOwner } from '@switchyard/db'
import { boundTenantsOf, type Caller } from '@switchyard/domain/access'
import { type HookRules, type SecretBox, sagaWebhookEvents, type TargetPolicy } from '@switchyard/webhooks'

export interface WebhookDependencies {
  database: Database
  /** Which targets are allowed. */
  policy: TargetPolicy
  /** Encrypts the secrets of webhooks. */
  secretBox: SecretBox
}

/** The webhooks of sagas of every tenant; administrators see all of them. */
export const ofSagas: WebhookOwner = { scope: 'saga' }

/** The webhooks that a caller finds by their ids: those of the tenant named, for a token that is bound to tenants. */
export const webhooksFor = (caller: Caller, tenant: string): WebhookOwner =>
  boundTenantsOf(caller) === null ? ofSagas : { scope: 'saga', tenant }

export const rulesOf = ({ policy, secretBox }: WebhookDependencies): HookRules => ({
  policy,
  knownEvents: sagaWebhookEvents,
  eventsMin: 1,
  secret: { parameter: 'secret', lengthMin: 16 },
  secretBox,
})
