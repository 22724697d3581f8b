import type { BroadcastMessage } from '@switchyard/db'
import { isActive } from '@switchyard/domain/broadcast'

/** A message as administrators see it; whether it is on is decided now, not when it was stored. */
export const presentBroadcastMessage = (message: BroadcastMessage, now: Date) => ({
  id: message.id,
  message: message.message,
  starts_at: message.startsAt.toISOString(),
  ends_at: message.endsAt.toISOString(),
  color: message.color,
  font: message.font,
  active: isActive(message, now),
})

/** What a banner needs of a message that is on. */
export const presentBanner = ({ id, message, startsAt, endsAt, color, font }: BroadcastMessage) => ({
  id,
  message,
  starts_at: startsAt.toISOString(),
  ends_at: endsAt.toISOString(),
  color,
  font,
})
