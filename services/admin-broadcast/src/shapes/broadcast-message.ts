import type { BroadcastMessage } from '@switchyard/db'
import { bannerColors, broadcastThemes, broadcastTypes, isActive } from '@switchyard/domain/broadcast'
import { oneOf, timeText } from '@switchyard/service-kit/http'
import { z } from 'zod'

const common = {
  id: z.int(),
  message: z.string(),
  starts_at: timeText(),
  ends_at: timeText(),
  color: z.string(),
  font: z.string(),
  target_path: z.string().nullable(),
  broadcast_type: oneOf(broadcastTypes),
  dismissable: z.boolean(),
  theme: oneOf(broadcastThemes),
}

export const broadcastMessageShape = z
  .object({
    ...common,
    active: z.boolean(),
    impact_rule_run: z
      .object({ project_id: z.int(), id: z.int() })
      .nullable()
      .meta({ description: 'The run of a rule of a project that shows it; null: somebody wrote it' }),
  })
  .meta({ id: 'BroadcastMessage', description: 'A broadcast message as administrators see it' })

export const bannerShape = z
  .object({ ...common, updated_at: timeText() })
  .meta({ id: 'Banner', description: 'An active broadcast message, as a banner shows it' })

/** Returns a message for administrators. `active` depends on `now`. */
export const presentBroadcastMessage = (
  message: BroadcastMessage,
  now: Date,
): z.output<typeof broadcastMessageShape> => ({
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
  impact_rule_run: runOf(message),
})

const runOf = ({ ruleProjectId, ruleRunId }: BroadcastMessage) =>
  ruleProjectId === null || ruleRunId === null ? null : { project_id: ruleProjectId, id: ruleRunId }

/** Returns an active message for the banner, with its colours. */
export const presentBanner = (message: BroadcastMessage): z.output<typeof bannerShape> => ({
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
