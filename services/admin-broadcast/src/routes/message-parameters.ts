import { text, time } from '@switchyard/service-kit/http'
import { z } from 'zod'

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
}
