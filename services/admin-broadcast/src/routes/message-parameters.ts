import { type BroadcastInput, broadcastThemes, broadcastTypes } from '@switchyard/domain/broadcast'
import { flag, integer, text, time } from '@switchyard/service-kit/http'
import { z } from 'zod'

const rowIdMax = 2_147_483_647

/** The id of a message: any whole number, and one that no row can have is one that is not found. */
export const messageId = () => integer().transform((id) => (id > 0 && id <= rowIdMax ? id : 0))

/** Years with four digits: what ISO 8601 writes without a sign and every database and client can read. */
const fourDigitYear = (date: Date) => date.getUTCFullYear() >= 1 && date.getUTCFullYear() <= 9999

/** A time; empty text counts as null, because a form cannot send null. */
const clearableTime = () =>
  z.preprocess(
    (value) => (typeof value === 'string' && value.trim() === '' ? null : value),
    time()
      .pipe(z.date().refine(fourDigitYear, { error: 'is invalid' }))
      .nullable(),
  )

/** What a message is made of, as far as it was given. Whether it makes sense is decided by the domain. */
export const optionalMessageParameters = {
  message: text().nullable().optional(),
  starts_at: clearableTime().optional(),
  ends_at: clearableTime().optional(),
  color: text().nullable().optional(),
  font: text().nullable().optional(),
  broadcast_type: z.enum(broadcastTypes).optional(),
  dismissable: flag().optional(),
  target_path: text().nullable().optional(),
  theme: z.enum(broadcastThemes).optional(),
}

/** The parameters under the names of the domain. */
export function broadcastInput(
  given: z.output<z.ZodObject<typeof optionalMessageParameters>>,
): BroadcastInput {
  const { message, starts_at: startsAt, ends_at: endsAt, color, font, dismissable, theme } = given
  const { broadcast_type: broadcastType, target_path: targetPath } = given
  return { message, startsAt, endsAt, color, font, broadcastType, dismissable, targetPath, theme }
}
