import { targetPolicy } from '@switchyard/outbound-http'
import type { Lifecycle } from '@switchyard/service-kit/lifecycle'
import type { Metrics } from '@switchyard/service-kit/observability'
import { createSecretBox, type SecretBox } from '@switchyard/webhooks'
import { Counter } from 'prom-client'
import { createBoundedLabels } from '../bounded-labels.js'
import type { Config } from '../config.js'
import type { Delivered } from './deliver.js'
import { createSender, type Sender } from './send.js'

/** The tools of the webhooks' jobs. */
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
    count: createDeliveryMetrics(metrics),
  }
}

const targetsMax = 100

/** Counts delivery attempts by target host. Hosts after the first hundred share the label `other`. */
function createDeliveryMetrics({ registry }: Pick<Metrics, 'registry'>) {
  const attempts = new Counter({
    name: 'saga_webhook_deliveries_total',
    help: 'Attempts to deliver a webhook of a saga, by target host and result.',
    labelNames: ['target', 'result'],
    registers: [registry],
  })
  const ofProjects = new Counter({
    name: 'project_webhook_deliveries_total',
    help: 'Attempts to deliver a webhook of a project, by result.',
    labelNames: ['result'],
    registers: [registry],
  })
  for (const result of ['succeeded', 'failed', 'given_up']) ofProjects.inc({ result }, 0)
  // The attempts at a target are counted from its first one, which Prometheus does not see as an increase. So
  // deliveries that are given up have a counter of their own, which begins at 0.
  const givenUp = new Counter({
    name: 'webhook_deliveries_given_up_total',
    help: 'Deliveries of webhooks whose attempts are used up, by what the webhook is of.',
    labelNames: ['scope'],
    registers: [registry],
  })
  for (const scope of ['project', 'saga']) givenUp.inc({ scope }, 0)
  const labelOf = createBoundedLabels(targetsMax)
  return ({ scope, host, result }: Pick<Delivered, 'scope' | 'host' | 'result'>) => {
    if (result === 'given_up') givenUp.inc({ scope })
    if (scope === 'project') return ofProjects.inc({ result })
    attempts.inc({ target: labelOf(host), result })
  }
}
