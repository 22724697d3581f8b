import { type BroadcastFields, isActive } from './broadcast-message.js'

type Period = Pick<BroadcastFields, 'startsAt' | 'endsAt'>

/**
 * Returns the boundaries of a message: its start, and the millisecond after its end. Empty when it ends
 * before it starts.
 */
export function boundariesOf({ startsAt, endsAt }: Period): Date[] {
  return startsAt <= endsAt ? [startsAt, new Date(endsAt.getTime() + 1)] : []
}

/** Returns the distinct boundaries of any message after `since` and up to `until`, earliest first. */
export function boundariesBetween(messages: readonly Period[], since: Date, until: Date): Date[] {
  const instants = messages
    .flatMap(boundariesOf)
    .map((boundary) => boundary.getTime())
    .filter((at) => at > since.getTime() && at <= until.getTime())
  return [...new Set(instants)].sort((a, b) => a - b).map((at) => new Date(at))
}

/** A message that appears (no `before`), changes (both) or disappears (no `after`). */
export interface BroadcastChange<Message> {
  before?: Message
  after?: Message
}

/** Returns the changes between the messages that readers see and the active ones. */
export function broadcastChanges<Message extends { id: number }>(
  shown: readonly Message[],
  active: readonly Message[],
): BroadcastChange<Message>[] {
  const before = new Map(shown.map((message) => [message.id, message]))
  const after = new Map(active.map((message) => [message.id, message]))
  const gone = shown.filter(({ id }) => !after.has(id)).map((message) => ({ before: message }))
  const comeOrChanged = active.flatMap((message) => {
    const known = before.get(message.id)
    if (!known) return [{ after: message }]
    return isSame(known, message) ? [] : [{ before: known, after: message }]
  })
  return [...gone, ...comeOrChanged]
}

const isSame = (one: object, other: object) => JSON.stringify(one) === JSON.stringify(other)

/** Returns the messages that are active at this instant, in the given order. */
export const activeMessages = <Message extends Period>(messages: readonly Message[], at: Date): Message[] =>
  messages.filter((message) => isActive(message, at))
