import { type BroadcastInput, broadcastThemes, broadcastTypes } from '@switchyard/domain/broadcast'
import { flag, integer, proseCharsMax, text, time, unsupported } from '@switchyard/service-kit/http'
import { z } from 'zod'

const rowIdMax = 2_147_483_647

/** The id of a message. A number out of range becomes 0, so that it is not found. */
export const messageId = () => integer().transform((id) => (id > 0 && id <= rowIdMax ? id : 0))

/** Years of four digits, which every database and client supports. */
const fourDigitYear = (date: Date) => date.getUTCFullYear() >= 1 && date.getUTCFullYear() <= 9999

/** A time; empty text counts as null, because a form cannot send null. */
const clearableTime = () =>
  z.preprocess(
    (value) => (typeof value === 'string' && value.trim() === '' ? null : value),
    time()
      .pipe(z.date().refine(fourDigitYear, { error: 'is invalid' }))
      .nullable(),
  )

/** The optional parameters of a message. The domain validates them. */
export const optionalMessageParameters = {
  message: text(proseCharsMax).nullable().optional(),
  starts_at: clearableTime().optional(),
  ends_at: clearableTime().optional(),
  color: text().nullable().optional(),
  font: text().nullable().optional(),
  broadcast_type: z.enum(broadcastTypes).optional(),
  dismissable: flag().optional(),
  target_path: text().nullable().optional(),
  theme: z.enum(broadcastThemes).optional(),
  target_access_levels: unsupported('is not supported: a message is for everybody'),
}

/** The parameters under the names of the domain. */
export function broadcastInput(
  given: z.output<z.ZodObject<typeof optionalMessageParameters>>,
): BroadcastInput {
  const { message, starts_at: startsAt, ends_at: endsAt, color, font, dismissable, theme } = given
  const { broadcast_type: broadcastType, target_path: targetPath } = given
  return { message, startsAt, endsAt, color, font, broadcastType, dismissable, targetPath, theme }
}
