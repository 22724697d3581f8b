import { endpoint, ok } from '@switchyard/service-kit/http'
import { z } from 'zod'
import { presentProcesses } from '../presenters/metrics.js'
import type { ReadSnapshot } from '../snapshot/snapshots.js'

export const getProcessMetrics = (readSnapshot: ReadSnapshot) =>
  endpoint({
    input: z.object({}),
    async handle() {
      const snapshot = await readSnapshot()
      return ok({ processes: presentProcesses(snapshot) })
    },
  })
