import { readFile } from 'node:fs/promises'
import { Validator } from '@seriousme/openapi-schema-validator'
import { expect, it } from 'vitest'
import { openApiFile } from './openapi-file.js'

it('the document of the API is valid OpenAPI 3.1', async () => {
  const document = JSON.parse(await readFile(openApiFile, 'utf8'))
  const validator = new Validator()
  expect(await validator.validate(document)).toEqual({ valid: true })
  expect(validator.version).toBe('3.1')
})

interface Schema {
  $ref?: string
  type?: string | string[]
  format?: string
  properties?: Record<string, Schema>
  items?: Schema
  anyOf?: Schema[]
  [key: string]: unknown
}

/** Lists the texts of unlimited length within a schema, by their path. */
function unboundedTexts(schema: Schema, schemas: Record<string, Schema>, path: string): string[] {
  if (schema.$ref !== undefined) {
    const name = schema.$ref.split('/').at(-1) ?? ''
    return unboundedTexts(schemas[name] ?? {}, schemas, path)
  }
  const below = [
    ...Object.entries(schema.properties ?? {}).map(([name, value]) => [`${path}.${name}`, value] as const),
    ...(schema.items ? [[`${path}[]`, schema.items] as const] : []),
    ...(schema.anyOf ?? []).map((value) => [path, value] as const),
  ].flatMap(([name, value]) => unboundedTexts(value, schemas, name))
  const isText = [schema.type].flat().includes('string')
  // These are limited by their kind.
  const isBounded = ['maxLength', 'enum', 'const'].some((word) => word in schema)
  // A setting limits a file, which is not held in memory.
  const isShort = ['date-time', 'uuid', 'binary'].includes(schema.format ?? '')
  return isText && !isBounded && !isShort ? [path, ...below] : below
}

it('every text of a path, a query or a body has a maximum length', async () => {
  const { paths, components } = JSON.parse(await readFile(openApiFile, 'utf8')) as {
    paths: Record<
      string,
      Record<
        string,
        {
          parameters?: { name: string; schema?: Schema }[]
          requestBody?: { content: Record<string, { schema?: Schema }> }
        }
      >
    >
    components: { schemas: Record<string, Schema> }
  }
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ name: `${method} ${path}`, ...operation })),
  )
  const inputs = operations.flatMap(({ name, parameters = [], requestBody }) => [
    // Headers that several operations share are references.
    ...parameters.flatMap((parameter) =>
      parameter.schema ? [[`${name} ${parameter.name}`, parameter.schema] as const] : [],
    ),
    // The bytes of a file have no schema.
    ...Object.values(requestBody?.content ?? {}).flatMap(({ schema }) =>
      schema ? [[name, schema] as const] : [],
    ),
  ])
  expect(inputs.length).toBeGreaterThan(500)
  expect(inputs.flatMap(([path, schema]) => unboundedTexts(schema, components.schemas, path))).toEqual([])
})

it('every operation has a unique name and a summary', async () => {
  const { paths } = JSON.parse(await readFile(openApiFile, 'utf8')) as {
    paths: Record<string, Record<string, { operationId: string; summary: string }>>
  }
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods))
  expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(operations.length)
  expect(operations.filter(({ summary }) => !/^[A-Z].*[^.]$/.test(summary))).toEqual([])
})
