import fc from 'fast-check'
import { expect, it } from 'vitest'
import { keep, oneOf, pageOf, parseSearch, writeSearch } from './search-params'

it('a query is read back as written, whatever its values are', () => {
  const names = fc.string({ minLength: 1, unit: 'grapheme' }).filter((name) => name !== '__proto__')
  const filled = fc.string({ minLength: 1, unit: 'grapheme' })
  fc.assert(
    fc.property(fc.dictionary(names, filled, { noNullPrototype: true }), (search) => {
      const text = writeSearch(search)
      expect(parseSearch(text)).toEqual(search)
      expect(text).toMatch(/^$|^\?[\x21-\x7e]+$/)
    }),
  )
})

it('a query omits empty values, and the last of repeated values counts', () => {
  expect(writeSearch({ q: '', page: undefined, ref: null, view: 'split' })).toBe('?view=split')
  expect(writeSearch({})).toBe('')
  expect(parseSearch('?q=1&q=2')).toEqual({ q: '2' })
  expect(parseSearch('')).toEqual({})
})

it('a page keeps its own parameters with text values, and ignores all others', () => {
  const given = { q: 'x', page: '', other: 'y', view: 7, constructor: 'z' }
  expect(keep('q', 'page', 'view')(given)).toEqual({ q: 'x' })
})

it.each([
  ['1', 1],
  ['37', 37],
  [undefined, 1],
  ['', 1],
  ['0', 1],
  ['-2', 1],
  ['1.5', 1],
  ['1e9', 1],
  ['two', 1],
])('the page of %s is %d', (text, page) => {
  expect(pageOf(text)).toBe(page)
})

it('an unknown value is ignored', () => {
  expect(oneOf(['split', 'unified'], 'split')).toBe('split')
  expect(oneOf(['split', 'unified'], 'toString')).toBeUndefined()
  expect(oneOf(['split', 'unified'], undefined)).toBeUndefined()
})
