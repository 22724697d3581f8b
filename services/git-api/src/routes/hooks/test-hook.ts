import type { Caller } from '@switchyard/domain/access'
import { created, endpoint } from '@switchyard/service-kit/http'
import { deliveryShape, presentDelivery, testWebhook } from '@switchyard/webhooks'
import { z } from 'zod'
import type { Dependencies } from '../../dependencies.js'
import type { ProjectCall } from '../../guards.js'
import { ofProject } from '../../use-cases/project-hooks.js'
import { type SampledEvent, sampleHook } from '../../use-cases/sample-hook.js'
import { hookId, trigger } from './hook-parameters.js'

/**
 * `POST /projects/:id/hooks/:hook_id/test/:trigger`: tells of the newest thing of that kind once more, whatever the
 * webhook asks for. The worker sends it soon; the delivery's own page shows what came of it.
 */
export const testHook = (deps: Dependencies) =>
  endpoint({
    summary: 'Tell a webhook of the newest thing of a kind once more',
    replies: { 201: z.object({ message: z.string(), ...deliveryShape.shape }) },
    refusals: [409],
    input: z.object({ ...hookId, trigger: trigger() }),
    async handle({ hook_id, trigger }, { project, caller }: ProjectCall<Caller>, { baseUrl, signal }) {
      const event = trigger.replace('_events', '') as SampledEvent
      const delivery = await testWebhook(deps.database, ofProject(project), hook_id, () =>
        sampleHook(deps, event, { project, user: caller.user, baseUrl }, signal),
      )
      return created({ message: '201 Created', ...presentDelivery(delivery) })
    },
  })
