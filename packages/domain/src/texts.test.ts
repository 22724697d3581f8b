import { expect, test } from 'vitest'
import { beginningOf, nameAndValue } from './texts.js'

test.each([
  ['short', 'short'],
  ['12345678', '12345'],
  ['1234😀', '1234'],
  ['123😀4', '123😀'],
  ['😀😀😀', '😀😀'],
])('the beginning of %s has whole characters', (text, beginning) => {
  expect(beginningOf(text, 5)).toBe(beginning)
})

test.each([
  ['a=b', ['a', 'b']],
  ['a=b=c', ['a', 'b=c']],
  ['=', ['', '']],
  ['a', ['a', '']],
])('%s is split at the first equals sign', (text, parts) => {
  expect(nameAndValue(text)).toEqual(parts)
})
