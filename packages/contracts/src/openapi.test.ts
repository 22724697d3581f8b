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

it('every operation has a unique name and a line that says what it does', async () => {
  const { paths } = JSON.parse(await readFile(openApiFile, 'utf8')) as {
    paths: Record<string, Record<string, { operationId: string; summary: string }>>
  }
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods))
  expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(operations.length)
  expect(operations.filter(({ summary }) => !/^[A-Z].*[^.]$/.test(summary))).toEqual([])
})
