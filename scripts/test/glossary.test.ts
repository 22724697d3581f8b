import { expect, it } from 'vitest'
import { readRepositoryFile } from '../../ops/docker/test/support/compose.js'

const snakeCase = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

it('the glossary lists every column with another name in the code', () => {
  const columns = readRepositoryFile('packages/db/prisma/schema.prisma').matchAll(
    /^ {2}(\w+) .* @map\("(\w+)"\)/gm,
  )
  const differing = [...columns]
    .filter(([, name = '', column]) => snakeCase(name) !== column)
    .map(([, name, column]) => `${name} is stored as ${column}`)
  const rows = readRepositoryFile('docs/glossary.md').matchAll(/^\| `(\w+)` of .* \| column `(\w+)` /gm)
  const told = [...rows].map(([, name, column]) => `${name} is stored as ${column}`)
  expect(differing.length).toBeGreaterThan(0)
  expect(told).toEqual(expect.arrayContaining(differing))
})
