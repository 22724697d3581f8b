import type { Caller } from '@switchyard/domain/access'
import { created, endpoint, filledText } from '@switchyard/service-kit/http'
import { addWebhook } from '@switchyard/webhooks'
import { z } from 'zod'
import { presentWebhook } from '../../presenters/webhook.js'
import { defaultTenant } from '../../rpc/report-metadata.js'
import { rulesOf, type WebhookDependencies } from './dependencies.js'
import { optionalWebhookParameters, requiredWebhookParameters } from './webhook-parameters.js'

/** `POST /sagas/webhooks` */
export const createWebhook = (dependencies: WebhookDependencies) =>
  endpoint({
    input: z.object({
      ...optionalWebhookParameters,
      ...requiredWebhookParameters,
      tenant: filledText().default(defaultTenant),
    }),
    async handle({ tenant, service_name: serviceName = null, enabled = true, ...given }, caller: Caller) {
      const fields = { ...given, serviceName, enabled, createdBy: caller.user.id }
      const owner = { scope: 'saga', tenant } as const
      return created(
        presentWebhook(await addWebhook(dependencies.database, owner, fields, rulesOf(dependencies))),
      )
    },
  })
