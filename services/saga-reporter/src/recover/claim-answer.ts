import { LeasedSaga } from '@switchyard/contracts/saga-recovery'
import type { ActivityPosition } from '../activities/store.js'
import {
  bareBytesOf,
  fitActivities,
  fitSaga,
  framingBytesMax,
  messageBytesMax,
  sagaBytesMax,
} from '../shapes/message-size.js'
import { toActivityMessage, toSagaMessage } from '../shapes/messages.js'
import { writeActivityCursor } from '../shapes/paging.js'
import type { ClaimedSaga } from './recover.js'

/** Most bytes without heads and errors when the message has several sagas. */
const severalBytesMax = 1024 * 1024

/** The leased sagas that fit into one message. */
export class ClaimAnswer {
  readonly sagas: LeasedSaga[] = []
  /** Bytes of the sagas without heads and errors. */
  #bytes = 0

  /**
   * Adds a saga with all of its activities, and returns whether it fits. The first saga always fits: when it
   * is too large for a message, it has only its first activities.
   */
  async add(claimed: ClaimedSaga): Promise<boolean> {
    const isFirst = this.sagas.length === 0
    const bytesMax = isFirst ? messageBytesMax : severalBytesMax
    const leased = toLeasedSaga(claimed)
    let bytes = this.#bytes + LeasedSaga.encode(leased).finish().length + framingBytesMax
    let end: ActivityPosition | null = null
    for await (const { activities, next } of claimed.pages) {
      const page = activities.map(toActivityMessage)
      const pageBytes = bareBytesOf(page)
      if (bytes + pageBytes > bytesMax && !isFirst) return false
      if (bytes + pageBytes > bytesMax && end) {
        leased.nextPageToken = writeActivityCursor(end)
        break
      }
      leased.activities.push(...page)
      bytes += pageBytes
      fitActivities(leased.activities, messageBytesMax - bytes)
      end = next
    }
    this.sagas.push(leased)
    this.#bytes = bytes
    fitActivities(
      this.sagas.flatMap(({ activities }) => activities),
      messageBytesMax - bytes,
    )
    return true
  }
}

/** Returns a leased saga as a message of `switchyard.sagas.v1`, without activities. */
const toLeasedSaga = ({ grant: { token, leasedUntil, attempt }, saga }: ClaimedSaga): LeasedSaga => ({
  saga: saga ? fitSaga(toSagaMessage(saga), sagaBytesMax) : undefined,
  activities: [],
  leaseToken: token,
  leasedUntil,
  attempt,
  nextPageToken: '',
})
