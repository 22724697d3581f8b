import { readFileSync } from 'node:fs'
import { status } from '@grpc/grpc-js'
import { DomainError, type ErrorKind } from '@switchyard/domain'
import { describe, expect, it } from 'vitest'
import { toServiceError } from './errors.js'

const page = readFileSync(new URL('../../../../docs/errors.md', import.meta.url), 'utf8')

/** Returns kind and status of each row of the table below `## gRPC`. */
const rows = (page.split('\n## gRPC\n')[1]?.split('\n## ')[0] ?? '')
  .split('\n')
  .filter((line) => line.startsWith('| '))
  .slice(2)
  .map((line) => line.split('|').map((cell) => cell.trim().replaceAll('`', '')))
  .map(([, kind = '', code = '']) => ({ kind, code }))

/** Stands for a failure without a kind: a defect, or an exceeded deadline. */
const without = '–'

const kinds: Record<ErrorKind, true> = {
  'invalid-parameters': true,
  invalid: true,
  unauthenticated: true,
  'insufficient-scope': true,
  forbidden: true,
  'not-found': true,
  conflict: true,
  'not-supported': true,
  unprocessable: true,
  'precondition-failed': true,
  'too-large': true,
  'unsupported-media-type': true,
  'timed-out': true,
  'rate-limited': true,
  unavailable: true,
  'insufficient-storage': true,
}

describe('the table of gRPC statuses in docs/errors.md', () => {
  it('contains every kind of refusal once', () => {
    const documented = rows.map(({ kind }) => kind).filter((kind) => kind !== without)
    expect(documented.sort()).toEqual(Object.keys(kinds).sort())
  })

  it('contains the failures without a kind', () => {
    const codes = rows.filter(({ kind }) => kind === without).map(({ code }) => code)
    expect(codes).toEqual(['DEADLINE_EXCEEDED', 'INTERNAL'])
    expect(status[toServiceError(new Error('anything')).code]).toBe('INTERNAL')
  })

  it.each(rows.filter(({ kind }) => kind !== without))('says of $kind what a caller gets, $code', (row) => {
    const failure = new DomainError(row.kind as ErrorKind, 'detail')
    expect(status[toServiceError(failure).code]).toBe(row.code)
  })
})
