import { endpoint, ok } from '@switchyard/service-kit/http'
import { z } from 'zod'
import { presentQueues } from '../presenters/metrics.js'
import type { ReadSnapshot } from '../snapshot/snapshots.js'

export const getQueueMetrics = (readSnapshot: ReadSnapshot) =>
  endpoint({
    input: z.object({}),
    async handle() {
      const snapshot = await readSnapshot()
      return ok({ queues: presentQueues(snapshot) })
    },
  })
