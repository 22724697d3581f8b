import type { BroadcastMessage } from '@switchyard/db'
import { bannerColors, isActive } from '@switchyard/domain/broadcast'

/** A message as administrators see it; whether it is on is decided now, not when it was stored. */
export const presentBroadcastMessage = (message: BroadcastMessage, now: Date) => ({
  id: message.id,
  message: message.message,
  starts_at: message.startsAt.toISOString(),
  ends_at: message.endsAt.toISOString(),
  color: message.color,
  font: message.font,
  active: isActive(message, now),
  target_path: message.targetPath,
  broadcast_type: message.broadcastType,
  dismissable: message.dismissable,
  theme: message.theme,
})

/** What a banner needs of a message that is on, in the colours it is to be shown in. */
export const presentBanner = (message: BroadcastMessage) => ({
  id: message.id,
  message: message.message,
  starts_at: message.startsAt.toISOString(),
  ends_at: message.endsAt.toISOString(),
  ...bannerColors(message),
  target_path: message.targetPath,
  broadcast_type: message.broadcastType,
  dismissable: message.dismissable,
  theme: message.theme,
  updated_at: message.updatedAt.toISOString(),
})
