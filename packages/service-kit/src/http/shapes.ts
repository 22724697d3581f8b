import { z } from 'zod'

/** In an answer: a text that is one of these values, where its TypeScript type is just a string. */
export const oneOf = (values: readonly string[]) => z.string().meta({ enum: [...values] })

/** In an answer: a time as ISO 8601 text. */
export const timeText = () => z.string().meta({ format: 'date-time' })

/** In an answer: an address. */
export const link = () => z.string().meta({ format: 'uri' })
