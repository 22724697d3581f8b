import type { Lifecycle } from '@switchyard/service-kit/lifecycle'
import type { Metrics } from '@switchyard/service-kit/observability'
import { createSender, type Delivered, type Sender, targetPolicy } from '@switchyard/webhooks'
import type { Config } from '../config.js'
import { createDeliveryFigures } from './delivery-figures.js'

/** What jobs of webhooks use. */
export interface WebhookTools {
  sender: Sender
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
  return { sender, externalUrl: config.EXTERNAL_URL, count: createDeliveryFigures(metrics) }
}
