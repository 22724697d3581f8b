import { type BroadcastFields, isActive } from './broadcast-message.js'

type Period = Pick<BroadcastFields, 'startsAt' | 'endsAt'>

/**
 * The instants at which a message goes on and off: its first, and the millisecond after its last. None when
 * it ends before it starts.
 */
export function turnsOf({ startsAt, endsAt }: Period): Date[] {
  return startsAt <= endsAt ? [startsAt, new Date(endsAt.getTime() + 1)] : []
}

/** The turns of all these messages after `since` and up to `until`, each instant once, earliest first. */
export function turnsBetween(messages: readonly Period[], since: Date, until: Date): Date[] {
  const instants = messages
    .flatMap(turnsOf)
    .map((turn) => turn.getTime())
    .filter((at) => at > since.getTime() && at <= until.getTime())
  return [...new Set(instants)].sort((a, b) => a - b).map((at) => new Date(at))
}

/** A message that comes (no `before`), changes (both) or goes (no `after`). */
export interface BroadcastChange<Message> {
  before?: Message
  after?: Message
}

/** What becomes different for readers between two moments, by comparing which messages are on. */
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

/** Those of the messages that are on at this instant, in the order given. */
export const activeMessages = <Message extends Period>(messages: readonly Message[], at: Date): Message[] =>
  messages.filter((message) => isActive(message, at))
