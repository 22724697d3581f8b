import { readFileSync } from 'node:fs'
import * as domain from '@switchyard/domain'
import { rejectionMessages } from '@switchyard/domain/saga'
import { describe, expect, it } from 'vitest'
import { toHttpError } from './errors.js'
import { refusedWith } from './openapi/refusals.js'

const text = readFileSync(new URL('../../../../docs/errors.md', import.meta.url), 'utf8')

const partBelow = (heading: string): string => text.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? ''

/** Returns the rows of the table below a heading, without its head; each cell is trimmed. */
const rowsBelow = (heading: string): string[][] =>
  partBelow(heading)
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .slice(2)
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    )

const withoutTicks = (cell = '') => cell.replaceAll('`', '')

/** One error of each kind, as the page shows it. The type of the table requires every kind. */
const samples: Record<domain.ErrorKind, domain.DomainError> = {
  'invalid-parameters': domain.invalidParameters(['branch is missing', 'since is invalid']),
  invalid: domain.invalid({ color: ['must be a valid color code'] }),
  unauthenticated: domain.unauthenticated(),
  'insufficient-scope': domain.insufficientScope(['api', 'read_api']),
  forbidden: domain.forbidden('<reason>'),
  'not-found': domain.notFound('Project'),
  conflict: domain.conflict('Username has already been taken'),
  'not-supported': domain.notSupported('Switchyard runs no pipelines: they follow from commit statuses'),
  unprocessable: domain.unprocessable('Ref is not specified'),
  'precondition-failed': domain.preconditionFailed(),
  'too-large': domain.tooLarge('413 Request Entity Too Large'),
  'unsupported-media-type': new domain.DomainError(
    'unsupported-media-type',
    "The provided content-type 'x/y' is not supported.",
  ),
  'timed-out': domain.timedOut(),
  'rate-limited': domain.rateLimited(
    'This endpoint has been requested too many times. Try again later.',
    1000,
  ),
  unavailable: domain.unavailable('<reason>'),
  'insufficient-storage': domain.insufficientStorage('a disk of the server is full'),
}
const kinds = Object.keys(samples).sort()

/**
 * The items below headings such as ``### 400 `invalid` `` or `### 404, without a kind`, each with the bodies
 * that it begins with.
 */
const http = partBelow('HTTP')
  .split('\n### ')
  .flatMap((part) => {
    const [, status, kind = '–'] = /^(\d{3})(?: `([\w-]+)`|, without a kind)\n/.exec(part) ?? []
    const items = status === undefined ? [] : part.split('\n- ').slice(1)
    return items.map((item) => ({
      kind,
      status: Number(status),
      bodies: [...item.matchAll(/`(\{.*?\})`(?=[,: ])/g)].map(([, json]) => JSON.parse(json ?? '')),
    }))
  })

describe('the list of HTTP errors', () => {
  it('lists exactly the kinds that exist', () => {
    const documented = new Set(http.map(({ kind }) => kind).filter((kind) => kind !== '–'))
    expect([...documented].sort()).toEqual(kinds)
  })

  it.each(kinds)('%s has its status and body', (kind) => {
    const rows = http.filter((row) => row.kind === kind)
    const answer = toHttpError(samples[kind as domain.ErrorKind])
    expect(rows.map((row) => row.status)).toEqual(rows.map(() => answer.status))
    expect(rows.flatMap(({ bodies }) => bodies)).toContainEqual(answer.body)
  })

  it.each([
    ['the path is not valid', new URIError('URI malformed')],
    ['500 Internal Server Error', new Error('anything')],
  ])('lists the failure without a kind: %s', (text, error) => {
    const answer = toHttpError(error)
    expect(Object.values(answer.body)).toEqual([text])
    const rows = http.filter((row) => row.kind === '–' && row.status === answer.status)
    expect(rows.flatMap(({ bodies }) => bodies)).toContainEqual(answer.body)
  })

  it('lists every status of a refusal in the OpenAPI document', () => {
    const documented = http.map((row) => row.status)
    expect(Object.keys(refusedWith).filter((code) => !documented.includes(Number(code)))).toEqual([])
  })
})

it('the table of rejected events lists every code with its message', () => {
  const documented = rowsBelow('Rejected events').map(([code, message]) => [withoutTicks(code), message])
  expect(Object.fromEntries(documented)).toEqual(rejectionMessages)
})
