import { filledText, flag, list, text } from '@switchyard/service-kit/http'
import { z } from 'zod'

/** A form cannot send null: empty text stands for it. */
const serviceName = () =>
  z.preprocess((value) => (value === '' ? null : value), text().pipe(z.string().max(128)).nullable())

/** A form with one event sends no list. */
const events = () => z.preprocess((value) => (typeof value === 'string' ? [value] : value), list(text()))

/** What a webhook is made of, as far as it was given. Whether it makes sense is decided by the rules of webhooks. */
export const optionalWebhookParameters = {
  url: filledText().optional(),
  secret: filledText().optional(),
  events: events().optional(),
  service_name: serviceName().optional(),
  enabled: flag().optional(),
}

export const requiredWebhookParameters = {
  url: filledText(),
  secret: filledText(),
  events: events(),
}
