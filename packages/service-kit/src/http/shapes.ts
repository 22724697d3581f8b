import { z } from 'zod'

/** In an answer: a text that is one of some, where its type does not say so. */
export const oneOf = (values: readonly string[]) => z.string().meta({ enum: [...values] })

/** In an answer: a time that was written as text already. */
export const timeText = () => z.string().meta({ format: 'date-time' })

/** In an answer: an address. */
export const link = () => z.string().meta({ format: 'uri' })
