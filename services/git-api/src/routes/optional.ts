import type { z } from 'zod'

/** A parameter that may be left out or, which means the same, be null. */
export const optional = <Schema extends z.ZodType>(schema: Schema) =>
  schema.nullish().transform((value) => value ?? undefined)

/** A text that may be left out; a blank one counts as left out. */
export const optionalText = <Schema extends z.ZodType<string>>(schema: Schema) =>
  optional(schema).transform((value) => (value?.trim() ? value : undefined))
