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
import type { Redis } from 'ioredis'
import type { Config } from '../config.js'
import { createProducer, type Producer } from '../queues/producer.js'
import { createDeliveryFigures } from './delivery-figures.js'

/** What the jobs of webhooks work with. */
export interface WebhookTools {
  sender: Sender
  secretBox: SecretBox
  producer: Producer
  /** Base of links in what is sent. */
  externalUrl: string | undefined
  count(delivered: Delivered): void
}

export function createWebhookTools(
  config: Config,
  { redis, metrics, lifecycle }: { redis: Redis; metrics: Metrics; lifecycle: Pick<Lifecycle, 'onClose'> },
): WebhookTools {
  const sender = createSender({ policy: targetPolicy(config) })
  lifecycle.onClose('webhook sender', () => sender.close())
  const producer = createProducer(redis)
  lifecycle.onClose('webhook producer', () => producer.close())
  return {
    sender,
    secretBox: createSecretBox(config),
    producer,
    externalUrl: config.EXTERNAL_URL,
    count: createDeliveryFigures(metrics),
  }
}
