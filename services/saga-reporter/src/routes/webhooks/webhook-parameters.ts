import { filledText, flag, list, text } from '@switchyard/service-kit/http'
import { z } from 'zod'
import { identifierCharsMax } from '../../wire/report-metadata.js'

/** A form cannot send null; an empty text stands for null. */
const serviceName = () =>
  z.preprocess((value) => (value === '' ? null : value), text(identifierCharsMax).nullable())

/** A form with one event sends a text instead of a list. */
const events = () => z.preprocess((value) => (typeof value === 'string' ? [value] : value), list(text()))

/** The fields of a webhook, each optional. The rules of webhooks check their values. */
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
