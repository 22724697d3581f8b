import { z } from 'zod'

export type JsonSchema = Record<string, unknown>

/** Shapes with a name of their own (`.meta({ id })`), which a document contains once. */
export type NamedShapes = Map<string, JsonSchema>

/**
 * Converts a zod schema to JSON Schema 2020-12.
 *
 * @param io what clients send (`input`), or what they receive (`output`)
 * @param named receives the named shapes of the schema, to which the result refers
 * @throws Error when two different shapes have one name
 */
export function toJsonSchema(schema: z.ZodType, io: 'input' | 'output', named: NamedShapes): JsonSchema {
  // Within an object, the schema itself may have a name, too.
  const wrapped = z.toJSONSchema(z.object({ root: schema }), {
    io,
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => refine(zodSchema, jsonSchema as JsonSchema),
  })
  const { properties, $defs = {} } = JSON.parse(
    JSON.stringify(wrapped).replaceAll('"#/$defs/', '"#/components/schemas/'),
  )
  for (const [name, shape] of Object.entries<JsonSchema>($defs)) addNamed(named, name, shape)
  return properties.root
}

function addNamed(named: NamedShapes, name: string, { id: _, ...shape }: JsonSchema): void {
  const known = named.get(name)
  if (known && JSON.stringify(known) !== JSON.stringify(shape))
    throw new Error(`two shapes are named ${name}`)
  named.set(name, shape)
}

/** Adds what zod leaves out, and shortens what zod says in more words than a reader needs. */
function refine({ _zod: { def } }: z.core.$ZodTypes, jsonSchema: JsonSchema): void {
  if (def.type === 'date') Object.assign(jsonSchema, { type: 'string', format: 'date-time' })
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
  // Zod drops the defaults of values that are converted while they are read.
  if (def.type === 'default' && typeof def.defaultValue !== 'object') jsonSchema.default = def.defaultValue
}
