import { Activity, Saga, SagaFlag } from '@switchyard/contracts/saga-messages'
import { headOfText } from './payload.js'

/** gRPC clients accept messages of 4 MiB by default. A token of the next page has less than 1 KiB. */
export const messageBytesMax = 4 * 1024 * 1024 - 1024

/** Most bytes of a saga in a message with its activities. */
export const sagaBytesMax = 1024 * 1024

/** Most bytes of the fields that tell where a saga, a flag, a tag, or an activity and its parts end. */
export const framingBytesMax = 32

const noBytes = Buffer.alloc(0)

/** Returns the bytes of activities in a message, without the heads of their payloads and their errors. */
export const bareBytesOf = (activities: readonly Activity[]): number =>
  activities.reduce((sum, activity) => sum + bytesOfOne(activity), 0)

function bytesOfOne(activity: Activity): number {
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

/**
 * Shortens the heads of payloads and the errors of activities so that they have at most this number of bytes.
 * When not all fit, heads have one half, errors have the other, and each has what the other does not need.
 * Their fields with the full sizes are kept, so a reader can tell which payloads and errors were shortened.
 */
export function fitActivities(activities: readonly Activity[], bytesMax: number): void {
  const payloads = activities.flatMap(({ parameter, result }) =>
    [parameter, result].filter((payload) => payload !== undefined),
  )
  const texts = activities.flatMap(({ executeErrors, compensateErrors }) =>
    [executeErrors, compensateErrors].filter((text) => text !== undefined),
  )
  const headBytes = payloads.reduce((sum, { head }) => sum + head.length, 0)
  const errorBytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
  const half = Math.floor(bytesMax / 2)
  const headBytesMax = Math.max(half, bytesMax - errorBytes)
  const errorBytesMax = Math.max(half, bytesMax - headBytes)
  if (headBytes > headBytesMax) cutHeads(payloads, Math.floor(headBytesMax / payloads.length))
  if (errorBytes > errorBytesMax) cutErrors(activities, Math.floor(errorBytesMax / texts.length))
}

function cutHeads(payloads: readonly { head: Buffer }[], bytesMax: number): void {
  for (const payload of payloads) {
    // A part of a buffer keeps the whole buffer in memory, so the kept bytes are copied.
    if (payload.head.length > bytesMax) payload.head = Buffer.from(payload.head.subarray(0, bytesMax))
  }
}

function cutErrors(activities: readonly Activity[], bytesMax: number): void {
  const beginning = (text: string | undefined) => text && headOfText(Buffer.from(text), bytesMax)
  for (const activity of activities) {
    activity.executeErrors = beginning(activity.executeErrors)
    activity.compensateErrors = beginning(activity.compensateErrors)
  }
}

/** Returns sagas with at most this number of bytes together. When not all fit, each has an equal share. */
export function fitSagas(sagas: Saga[], bytesMax: number): Saga[] {
  if (sagas.reduce((sum, saga) => sum + bytesOfSaga(saga), 0) <= bytesMax) return sagas
  const each = Math.floor(bytesMax / sagas.length)
  return sagas.map((saga) => fitSaga(saga, each))
}

/**
 * Returns a saga with at most this number of bytes. It leaves out the last tags and flags that do not fit.
 * The flags of the saga itself come before those of its activities, so that they are kept.
 */
export function fitSaga(saga: Saga, bytesMax: number): Saga {
  if (bytesOfSaga(saga) <= bytesMax) return saga
  const half = (bytesMax - bytesOfSaga({ ...saga, tags: [], flags: [] })) / 2
  const ofSaga = saga.flags.filter(({ activityId }) => activityId === undefined)
  const ofActivities = saga.flags.filter(({ activityId }) => activityId !== undefined)
  return {
    ...saga,
    tags: firstWithin(saga.tags, half, (tag) => Buffer.byteLength(tag)),
    flags: firstWithin([...ofSaga, ...ofActivities], half, (flag) => SagaFlag.encode(flag).finish().length),
  }
}

const bytesOfSaga = (saga: Saga): number => Saga.encode(saga).finish().length + framingBytesMax

/** Returns the first items that have at most this number of bytes together. */
function firstWithin<Item>(items: Item[], bytesMax: number, bytesOf: (item: Item) => number): Item[] {
  let bytes = 0
  const end = items.findIndex((item) => {
    bytes += bytesOf(item) + framingBytesMax
    return bytes > bytesMax
  })
  return end === -1 ? items : items.slice(0, end)
}
