import { Activity } from '@switchyard/contracts/saga-messages'
import { LeasedSaga } from '@switchyard/contracts/saga-recovery'
import type { ActivityPosition } from '../activities/store.js'
import { toActivityMessage, toSagaMessage } from '../shapes/messages.js'
import { writeActivityCursor } from '../shapes/paging.js'
import { headOfText } from '../shapes/payload.js'
import type { ClaimedSaga } from './recover.js'

/** gRPC clients accept messages of 4 MiB by default. */
const messageBytesMax = 4 * 1024 * 1024 - 1024
/** Most bytes of all heads of payloads, and of all errors. */
const partBytesMax = 1.5 * 1024 * 1024
/** Most bytes of everything else, when the message has several sagas. */
const severalBytesMax = messageBytesMax - 2 * partBytesMax
/** Most flags of a saga, because each of its activities may have one. */
const flagsMax = 100

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
      const pageBytes = page.reduce((sum, activity) => sum + bareBytesOf(activity), 0)
      if (bytes + pageBytes > bytesMax && !isFirst) return false
      if (bytes + pageBytes > bytesMax && end) {
        leased.nextPageToken = writeActivityCursor(end)
        break
      }
      leased.activities.push(...page)
      bytes += pageBytes
      fitMessage([leased], partBytes(bytes))
      end = next
    }
    this.sagas.push(leased)
    this.#bytes = bytes
    fitMessage(this.sagas, partBytes(bytes))
    return true
  }
}

/** Returns the bytes that heads, and as many that errors, may have beside all other bytes of a message. */
const partBytes = (otherBytes: number): number =>
  Math.min(partBytesMax, Math.floor((messageBytesMax - otherBytes) / 2))

/** Most bytes of the fields that tell where a message and its heads and errors end. */
const framingBytesMax = 32

/** Returns the bytes of an activity in a message, without its heads and errors. */
function bareBytesOf(activity: Activity): number {
  const { parameter, result } = activity
  const bare: Activity = {
    ...activity,
    parameter: parameter && { ...parameter, head: noBytes },
    result: result && { ...result, head: noBytes },
    executeErrors: undefined,
    compensateErrors: undefined,
  }
  return Activity.encode(bare).finish().length + framingBytesMax
}

const noBytes = Buffer.alloc(0)

/** Shortens the heads of payloads and the errors so that all of them fit into one message. */
export function fitMessage(sagas: LeasedSaga[], bytesMax = partBytesMax): LeasedSaga[] {
  const payloads = sagas.flatMap(({ activities }) =>
    activities.flatMap(({ parameter, result }) =>
      [parameter, result].filter((payload) => payload !== undefined),
    ),
  )
  const bytes = payloads.reduce((sum, { head }) => sum + head.length, 0)
  const each = Math.floor(bytesMax / payloads.length)
  // A part of a buffer keeps the whole buffer in memory, so the kept bytes are copied.
  if (bytes > bytesMax)
    for (const payload of payloads)
      if (payload.head.length > each) payload.head = Buffer.from(payload.head.subarray(0, each))
  fitErrors(sagas, bytesMax)
  return sagas
}

function fitErrors(sagas: LeasedSaga[], bytesMax: number): void {
  const activities = sagas.flatMap((saga) => saga.activities)
  const texts = activities.flatMap(({ executeErrors, compensateErrors }) => [executeErrors, compensateErrors])
  const given = texts.filter((text) => text !== undefined)
  if (given.reduce((sum, text) => sum + Buffer.byteLength(text), 0) <= bytesMax) return
  const each = Math.floor(bytesMax / given.length)
  const beginning = (text: string | undefined) => text && headOfText(Buffer.from(text), each)
  for (const activity of activities) {
    activity.executeErrors = beginning(activity.executeErrors)
    activity.compensateErrors = beginning(activity.compensateErrors)
  }
}

/** Returns a leased saga as a message of `switchyard.sagas.v1`, without activities. */
const toLeasedSaga = ({ grant: { token, leasedUntil, attempt }, saga }: ClaimedSaga): LeasedSaga => ({
  saga: saga ? toSagaMessage({ ...saga, flags: saga.flags.slice(0, flagsMax) }) : undefined,
  activities: [],
  leaseToken: token,
  leasedUntil,
  attempt,
  nextPageToken: '',
})
