import type { Lifecycle } from '@switchyard/service-kit/lifecycle'
import type { Metrics } from '@switchyard/service-kit/observability'
import {
  createSecretBox,
  createSender,
  type Delivered,
  type SecretBox,
  type Sender,
  targetPolicy,
} from '@switchyard/webhooks'
import type { Config } from '../config.js'
import { createDeliveryFigures } from './delivery-figures.js'

/** What jobs of webhooks use. */
export interface WebhookTools {
  sender: Sender
  secretBox: SecretBox
  /** Base of links in payloads. */
  externalUrl: string | undefined
  count(delivered: Delivered): void
}

export function createWebhookTools(
  config: Config,
  { metrics, lifecycle }: { metrics: Metrics; lifecycle: Pick<Lifecycle, 'onClose'> },
): WebhookTools {
  const sender = createSender({ policy: targetPolicy(config) })
  lifecycle.onClose('webhook sender', () => sender.close())
  return {
    sender,
    secretBox: createSecretBox(config),
    externalUrl: config.EXTERNAL_URL,
    count: createDeliveryFigures(metrics),
  }
}
