import { endpoint, ok, text, time } from '@switchyard/service-kit/http'
import { z } from 'zod'
import { historyShape, presentHistory } from '../presenters/history.js'
import type { ReadHistory } from '../use-cases/read-history.js'

/** The figures of the last hour every ten seconds, or of the last day every minute. */
export const getHistory = (readHistory: ReadHistory) =>
  endpoint({
    summary: 'Figures of the last hour or the last day',
    replies: { 200: historyShape },
    input: z.object({
      source: text().optional(),
      queue: text().optional(),
      from: time().optional(),
      to: time().optional(),
      /** Seconds between two points. */
      resolution: z.enum(['10', '60']).optional(),
    }),
    handle: async (question) => ok(presentHistory(question, readHistory(question))),
  })
