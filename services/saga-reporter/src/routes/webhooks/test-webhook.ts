import type { Caller } from '@switchyard/domain/access'
import { accepted, endpoint, rowId } from '@switchyard/service-kit/http'
import { deliveryShape, presentDelivery, testWebhook as sendTest } from '@switchyard/webhooks'
import { z } from 'zod'
import { tenantParameter } from '../../wire/search-parameters.js'
import { type WebhookDependencies, webhooksFor } from './dependencies.js'

/** `POST /sagas/webhooks/:id/test`: the worker sends it soon; the delivery shows the result. */
export const testWebhook = ({ database }: WebhookDependencies) =>
  endpoint({
    summary: 'Send a test to a webhook',
    replies: { 202: deliveryShape },
    refusals: [409],
    input: z.object({ id: rowId(), ...tenantParameter }),
    handle: async ({ id, tenant }, caller: Caller) =>
      accepted(presentDelivery(await sendTest(database, webhooksFor(caller, tenant), id))),
  })
