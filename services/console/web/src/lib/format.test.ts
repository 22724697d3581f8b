import { expect, it } from 'vitest'
import { bytes, count, countOf, filledLines, firstLine, isWebAddress, shortSha, sinceNow } from './format'

it.each([
  [0, '0 B'],
  [1023, '1023 B'],
  [1024, '1.0 KiB'],
  [1536, '1.5 KiB'],
  [102_400, '100 KiB'],
  [1_048_575, '1.0 MiB'],
  [5 * 1024 ** 4, '5.0 TiB'],
  [5000 * 1024 ** 4, '5000 TiB'],
])('%d bytes are written %s', (value, text) => {
  expect(bytes(value)).toBe(text)
})

it.each([
  [0, 'just now'],
  [4000, 'just now'],
  [-59_000, 'just now'],
  [-60_000, '1 minute ago'],
  [40_000, 'in 40 seconds'],
  [-3 * 60_000, '3 minutes ago'],
  [-90_000, '1 minute ago'],
  [2 * 86_400_000, 'in 2 days'],
  [-40 * 86_400_000, 'last month'],
])('a moment %d ms from now is written %s', (offset, text) => {
  const now = Date.UTC(2026, 10, 25)
  expect(sinceNow(new Date(now + offset), now)).toBe(text)
})

it('counts have grouped digits, and plural nouns', () => {
  expect(count(1_234_567)).toBe('1,234,567')
  expect([countOf(1, 'saga'), countOf(2, 'saga'), countOf(0, 'entry', 'entries')]).toEqual([
    '1 saga',
    '2 sagas',
    '0 entries',
  ])
  expect(shortSha('0123456789abcdef')).toBe('01234567')
})

it.each([
  ['https://ci.example.com/1', true],
  ['http://localhost', true],
  ['javascript:alert(1)', false],
  ['JAVASCRIPT:alert(1)', false],
  ['data:text/html,x', false],
  ['//example.com', false],
  ['', false],
])('%s becomes a link: %s', (address, expected) => {
  expect(isWebAddress(address)).toBe(expected)
})

it('a list is typed one item per line, whatever the items contain', () => {
  expect(filledLines(' pay, later \r\n\n mail\n')).toEqual(['pay, later', 'mail'])
  expect(filledLines(' \n ')).toEqual([])
})

it.each([
  ['no bank\n    at pay (bank.js:1:2)', 'no bank'],
  ['\n\r\n  Error: no\r\nmore', 'Error: no'],
  ['0123456789', '0123456789'],
  ['0123456789a', '012345678…'],
  ['😀'.repeat(10), '😀'.repeat(10)],
  ['😀'.repeat(11), `${'😀'.repeat(9)}…`],
  ['', ''],
])('the first line of %j is %j', (text, line) => {
  expect(firstLine(text, 10)).toBe(line)
})
