import { DomainError } from '@switchyard/domain'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import {
  decimal,
  emptyAs,
  filledText,
  flag,
  integer,
  readParameters,
  searchedText,
  text,
  time,
  unsupported,
} from './parameters.js'

const refusal = (schema: z.ZodType, given: unknown): unknown => {
  try {
    readParameters(schema, given)
  } catch (error) {
    return error instanceof DomainError ? error.detail : error
  }
  return undefined
}

const state = z.enum(['pending', 'running'])

describe('readParameters', () => {
  it.each([
    ['absent', z.object({ branch: text() }), {}, 'branch is missing'],
    ['absent, restricted', z.object({ state }), {}, 'state is missing, state does not have a valid value'],
    ['not in the list', z.object({ state }), { state: 'x' }, 'state does not have a valid value'],
    ['wrong type', z.object({ since: time() }), { since: 'someday' }, 'since is invalid'],
    [
      'a search that blanks fill',
      z.object({ q: searchedText() }),
      { q: ' a ' },
      'q is too short (minimum is 3 characters)',
    ],
    ['blank', z.object({ branch: filledText() }), { branch: ' ' }, 'branch is empty'],
    ['no day of the calendar', z.object({ since: time() }), { since: '2026-02-30' }, 'since is invalid'],
    ['no such time', z.object({ since: time() }), { since: '2026-04-31T10:00:00Z' }, 'since is invalid'],
    [
      'an unknown word in a list by commas',
      z.object({
        status: z.preprocess((list) => `${list}`.split(','), z.array(z.enum(['Started', 'Ended']))),
      }),
      { status: 'Ended,Done' },
      'status does not have a valid value',
    ],
    ['years before 0', z.object({ since: time() }), { since: '-005000-01-01T00:00:00Z' }, 'since is invalid'],
    ['a word and a number', z.object({ since: time() }), { since: 'soon 12' }, 'since is invalid'],
    ['no decimal notation', z.object({ coverage: decimal() }), { coverage: '0x10' }, 'coverage is invalid'],
    [
      'a decimal made to be slow',
      z.object({ x: decimal() }),
      { x: `${'1'.repeat(500_000)}x` },
      'x is invalid',
    ],
    ['a time made to be slow', z.object({ x: time() }), { x: `2026${' '.repeat(500_000)}x` }, 'x is invalid'],
    [
      'too long a text',
      z.object({ name: text() }),
      { name: 'x'.repeat(4097) },
      'name is too long (maximum is 4096 characters)',
    ],
    [
      'too long a text in a list',
      z.object({ refs: z.array(filledText(3)) }),
      { refs: ['main', ''] },
      'refs[0] is too long (maximum is 3 characters), refs[1] is empty',
    ],
    ['NUL', z.object({ note: text() }), { note: 'a\0b' }, 'note is invalid'],
    ['object for text', z.object({ note: text() }), { note: { a: 1 } }, 'note is invalid'],
    ['null for text', z.object({ note: text() }), { note: null }, 'note is invalid'],
    ['no object', z.object({ actions: z.array(z.object({})) }), { actions: 'x' }, 'actions is invalid'],
    [
      'inside a list',
      z.object({ actions: z.array(z.object({ file_path: text() })) }),
      { actions: [{}] },
      'actions[0][file_path] is missing',
    ],
    ['a rounded number', z.object({ id: text() }), JSON.parse('{"id":3544790567247868102}'), 'id is invalid'],
    ['an infinite number', z.object({ id: text() }), JSON.parse('{"id":1e400}'), 'id is invalid'],
    ['several', z.object({ a: text(), b: integer() }), { b: 'x' }, 'a is missing, b is invalid'],
    [
      'out of range',
      z.object({ a: integer(1), b: integer(0, 9), c: decimal(0, 100), d: decimal() }),
      { a: 0, b: '10', c: 100.5, d: '1e200' },
      'a does not have a valid value, b does not have a valid value, c does not have a valid value, d does not have a valid value',
    ],
  ])('words its problem as clients expect: %s', (_case, schema, given, expected) => {
    expect(refusal(schema, given)).toBe(expected)
  })

  it.each([
    ['11', integer(), 11],
    ['11', integer(1, 11), 11],
    ['', emptyAs(null, text().nullable()), null],
    ['80.5', decimal(), 80.5],
    [' -.5e1 ', decimal(), -5],
    [0, decimal(), 0],
    ['T', flag(), true],
    ['off', flag(), false],
    [1, flag(), true],
    [12, text(), '12'],
    ['cut 😀\ud83d', text(), 'cut 😀\ufffd'],
  ])('reads %j as the value that it stands for', (given, schema, expected) => {
    expect(readParameters(z.object({ value: schema }), { value: given })).toEqual({ value: expected })
  })

  it.each([
    ['2026-01-02', '2026-01-02T00:00:00.000Z'],
    ['2026-01-02T03:04:05', '2026-01-02T03:04:05.000Z'],
    ['2026-01-02 03:04:05', '2026-01-02T03:04:05.000Z'],
    ['2026-01-02T03:04:05+02:00', '2026-01-02T01:04:05.000Z'],
    ['Fri, 02 Jan 2026 03:04:05 +0000', '2026-01-02T03:04:05.000Z'],
    ['2026-01', '2026-01-01T00:00:00.000Z'],
    ['2026-01-02 3:04', '2026-01-02T03:04:00.000Z'],
    ['2 Jan 2026 03:04:05', '2026-01-02T03:04:05.000Z'],
    ['Jan 2, 2026 3:04 PM', '2026-01-02T15:04:00.000Z'],
    ['2026-01-02 03:04:05 +0200', '2026-01-02T01:04:05.000Z'],
    ['Fri Jan 02 2026 03:04:05 GMT+0200 (CET)', '2026-01-02T01:04:05.000Z'],
    ['Fri, 02 Jan 2026 03:04:05 EST', '2026-01-02T08:04:05.000Z'],
    ['2026-01-02 03:04:05+02', '2026-01-02T01:04:05.000Z'],
    ['2026-01-02 03:04:05.678 -03', '2026-01-02T06:04:05.678Z'],
    ['2026-01-02 03:04:05 GMT+2', '2026-01-02T01:04:05.000Z'],
    ['Fri Jan 02 2026 03:04:05 GMT+0200 (Zone (of a country))', '2026-01-02T01:04:05.000Z'],
    ['01-02-2026', '2026-01-02T00:00:00.000Z'],
    ['2026-01-02t03:04:05', '2026-01-02T03:04:05.000Z'],
    ['Fri, 02 Jan 2026 03:04 -5:30', '2026-01-02T08:34:00.000Z'],
    ['Jan 2, 2026 3:04 PM +2', '2026-01-02T13:04:00.000Z'],
    ['03:04 2-Jan-2026', '2026-01-02T03:04:00.000Z'],
  ])('reads the time %s in any zone of the process', (given, expected) => {
    const zone = process.env.TZ
    process.env.TZ = 'America/Lima'
    try {
      expect(readParameters(time(), given).toISOString()).toBe(expected)
    } finally {
      if (zone === undefined) delete process.env.TZ
      else process.env.TZ = zone
    }
  })

  it('refuses or reads any value, and never fails otherwise', () => {
    const schema = z.object({ a: text(), b: integer(), c: decimal(), d: flag(), e: time() })
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd', 'e'), fc.anything()), (given) => {
        const answer = refusal(schema, given)
        expect(answer === undefined || typeof answer === 'string').toBe(true)
      }),
    )
  })
})

describe('a parameter that is not supported', () => {
  const schema = z.object({ other: unsupported('is not supported', 'false') })

  it.each([{}, { other: '' }, { other: null }, { other: false }, { other: 'false' }])(
    'may be %j',
    (given) => {
      expect(refusal(schema, given)).toBeUndefined()
    },
  )

  it.each([{ other: 'true' }, { other: true }, { other: 0 }, { other: ['a'] }, { other: { a: 1 } }])(
    'is refused by its name as %j',
    (given) => {
      expect(refusal(schema, given)).toBe('other is not supported')
    },
  )
})

it('an error repeats 200 characters of a name that the caller chose', () => {
  const problem = refusal(z.object({ filter: z.record(z.string(), z.int()) }), {
    filter: { ['x'.repeat(100_000)]: 'y' },
  })
  expect(problem).toMatch(/^filter\[x{180,200}… is invalid$/)
})
