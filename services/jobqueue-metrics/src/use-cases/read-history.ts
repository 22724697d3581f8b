import type { Clock } from '@switchyard/domain'
import { parameterProblem } from '@switchyard/service-kit/http'
import { dayMs, type History, hourMs, type Point, type Resolution } from '../history/history.js'

export interface HistoryQuestion {
  /** Unset: all sources together. */
  source?: string
  /** Unset: all queues together. */
  queue?: string
  /** Unset: as far back as the resolution reaches. */
  from?: Date
  /** Unset: up to now. */
  to?: Date
  /** Seconds between two points. Unset: the finest that reaches back to `from`. */
  resolution?: '10' | '60'
}

/** @throws DomainError invalid-parameters for a source that does not exist */
export type ReadHistory = (question: HistoryQuestion) => { resolutionSeconds: Resolution; points: Point[] }

export const createReadHistory =
  (history: History, sources: readonly string[], clock: Clock): ReadHistory =>
  ({ source, queue, from, to, resolution }) => {
    if (source !== undefined && !sources.includes(source))
      throw parameterProblem('source', 'does not have a valid value')
    const nowMs = clock().getTime()
    const reachesHour = from !== undefined && from.getTime() >= nowMs - hourMs
    const resolutionSeconds = resolution === '10' || (resolution === undefined && reachesHour) ? 10 : 60
    const fromMs = from?.getTime() ?? nowMs - (resolutionSeconds === 10 ? hourMs : dayMs)
    const toMs = to?.getTime() ?? nowMs
    return { resolutionSeconds, points: history.points({ source, queue, fromMs, toMs, resolutionSeconds }) }
  }
