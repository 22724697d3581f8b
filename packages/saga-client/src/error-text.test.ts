import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { errorText } from './error-text.js'

/** Removes the lines of a stack, which differ from run to run. */
const withoutStack = (error: unknown) => errorText(error).replaceAll(/\n\s+at .*/g, '')

it('keeps a text as it is, whatever its length, and is empty for undefined', () => {
  expect(errorText('no seat')).toBe('no seat')
  expect(errorText('x'.repeat(100_000))).toHaveLength(100_000)
  expect(errorText(undefined)).toBe('')
})

it.each([
  [{ code: 'E_SEAT' }, "{ code: 'E_SEAT' }"],
  [['a', 1], "[ 'a', 1 ]"],
  [null, 'null'],
  [12n, '12n'],
  [Symbol('seat'), 'Symbol(seat)'],
  [Object.create(null), '[Object: null prototype] {}'],
  [new Map([['row', 4]]), "Map(1) { 'row' => 4 }"],
])('shows a value that is no Error readably (%#)', (value, text) => {
  expect(errorText(value)).toBe(text)
})

it('keeps the stack and the code of an Error', () => {
  expect(errorText(new TypeError('no seat'))).toMatch(/^TypeError: no seat\n\s+at /)
  expect(withoutStack(Object.assign(new Error('no seat'), { code: 'E_SEAT' }))).toBe(
    'Error: no seat\n    code: E_SEAT',
  )
  expect(withoutStack(runInNewContext("new RangeError('elsewhere')"))).toContain('RangeError: elsewhere')
})

it('keeps the errors inside an Error: its cause, and those of an AggregateError', () => {
  const refused = ['::1', '127.0.0.1'].map((address) =>
    Object.assign(new Error(`connect ECONNREFUSED ${address}:80`), { code: 'ECONNREFUSED' }),
  )
  const cause = Object.assign(new AggregateError(refused, 'all refused'), { code: 'ECONNREFUSED' })
  expect(withoutStack(new TypeError('fetch failed', { cause }))).toBe(
    [
      'TypeError: fetch failed',
      '  [cause] AggregateError: all refused',
      '      code: ECONNREFUSED',
      '    [error] Error: connect ECONNREFUSED ::1:80',
      '    [error] Error: connect ECONNREFUSED 127.0.0.1:80',
    ].join('\n'),
  )
  const outer = new Error('outer', { cause: { seat: '4A' } })
  expect(withoutStack(outer)).toBe("Error: outer\n  [cause] { seat: '4A' }")
})

it('contains the error of a request to a port without a server', async () => {
  const error: unknown = await fetch('http://localhost:9/').catch((cause: unknown) => cause)
  expect(errorText(error)).toMatch(/^TypeError: fetch failed[\s\S]*\[cause\]/)
})

it('omits further fields of an Error, which hold headers and tokens', () => {
  const error = Object.assign(new Error('401'), { config: { headers: { Authorization: 'Bearer secret' } } })
  expect(errorText(error)).not.toContain('secret')
})

it('ends for cyclic, many and long errors, and for unreadable ones', () => {
  const circular = new Error('round')
  circular.cause = circular
  expect(withoutStack(circular)).toBe('Error: round\n  [cause] [circular]')
  let deep = new Error('0')
  for (let level = 1; level < 1000; level += 1) deep = new Error(`${level}`, { cause: deep })
  expect(withoutStack(deep).split('\n')).toHaveLength(7)
  const many = new AggregateError(Array.from({ length: 1000 }, (_, index) => new Error(`${index}`)))
  expect(withoutStack(many)).toMatch(/\[error\] Error: 9\n {2}\[990 further errors\]$/)
  expect(errorText(new Error('x'.repeat(1_000_000)))).toHaveLength(64 * 1024)
  const unreadable = new Error('x')
  Object.defineProperty(unreadable, 'stack', {
    get: () => {
      throw new Error('no')
    },
  })
  expect(errorText(unreadable)).toBe('[an error that cannot be read]')
})

it('returns a text for anything', () => {
  fc.assert(
    fc.property(fc.anything({ withBigInt: true, withNullPrototype: true }), (value) => {
      expect(typeof errorText(value)).toBe('string')
    }),
  )
})
