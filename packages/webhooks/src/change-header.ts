import { type PrismaTransaction, requireUnchanged } from '@switchyard/db'
import { notFound, type Precondition, unavailable } from '@switchyard/domain'
import { type CustomHeader, openHeaders, sealHeaders } from './custom-headers.js'
import { checkHook, type HookRules } from './hook-rules.js'
import { type SecretBox, UnreadableSecret } from './secret-box.js'
import { lockHeaders, type StoredHeaders } from './store/header-values.js'
import { getWebhook, updateWebhook, type Webhook, type WebhookOwner } from './store/hooks.js'

interface HeaderChange {
  /** Id of the webhook. */
  id: number
  /** Name of the header, in upper or lower case. */
  key: string
  /** Null: the header is removed. */
  value: string | null
  precondition?: Precondition | undefined
}

/**
 * Sets or removes one of the further headers of a webhook; the others stay.
 *
 * @throws DomainError not-found for the webhook, and for a header to remove; precondition-failed; invalid for
 * a header that cannot be sent, or one too many; unavailable when the values cannot be read or encrypted
 */
export async function changeWebhookHeader(
  transaction: PrismaTransaction,
  owner: WebhookOwner,
  { id, key, value, precondition }: HeaderChange,
  rules: HookRules,
): Promise<Webhook> {
  await getWebhook(transaction, owner, id)
  const stored = await lockHeaders(transaction, id)
  if (!stored) throw notFound('Webhook')
  await requireUnchanged(transaction, 'webhooks', { id }, precondition)
  const headers = changed(openOrRefuse(stored, rules.secretBox), key, value)
  await checkHook({ headers }, rules)
  return updateWebhook(transaction, owner, id, { headers: sealHeaders(headers, rules.secretBox) }, new Date())
}

function openOrRefuse(stored: StoredHeaders, box: SecretBox): CustomHeader[] {
  try {
    return openHeaders(stored, box)
  } catch (cause) {
    if (!(cause instanceof UnreadableSecret)) throw cause
    throw unavailable('the values of the headers cannot be read: give all headers anew', { cause })
  }
}

function changed(headers: CustomHeader[], key: string, value: string | null): CustomHeader[] {
  const at = headers.findIndex((header) => header.key.toLowerCase() === key.toLowerCase())
  if (value === null) {
    if (at < 0) throw notFound('Custom Header')
    return headers.toSpliced(at, 1)
  }
  return at < 0 ? [...headers, { key, value }] : headers.with(at, { key, value })
}
