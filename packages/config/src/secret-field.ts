import { z } from 'zod'
import { Secret } from './secret.js'

const secrets = z.registry<{ secret: true }>()

/**
 * Marks the schema of a variable as secret. Its value may then also come from a file, and the reference says
 * so. Wrap the result in `.optional()` or `.default()`, not the argument.
 */
export function markSecret<Schema extends z.ZodType>(schema: Schema): Schema {
  secrets.add(schema, { secret: true })
  return schema
}

export const secretField = (schema: z.ZodType<string, string>) =>
  markSecret(schema.transform((value) => new Secret(value)))

/** Returns whether {@link markSecret} was used for a variable, which may have a default or be optional. */
export function isSecretField(field: z.core.$ZodType): boolean {
  if (field instanceof z.ZodOptional || field instanceof z.ZodDefault) return isSecretField(field.unwrap())
  // `has` would not work, because a copy by `describe` has the marks of the original.
  return secrets.get(field)?.secret ?? false
}
