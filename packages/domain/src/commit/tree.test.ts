import { expect, it } from 'vitest'
import { lineCountOf } from './tree.js'

it('counts lines as an editor numbers them', () => {
  expect(lineCountOf(Buffer.from(''))).toBe(0)
  expect(lineCountOf(Buffer.from('one\n'))).toBe(1)
  expect(lineCountOf(Buffer.from('one\ntwo'))).toBe(2)
  expect(lineCountOf(Buffer.from('one\r\n\r\ntwo\r\n'))).toBe(3)
  expect(lineCountOf(Buffer.from('\n\n'))).toBe(2)
})

it('finds no lines in a binary file', () => {
  expect(lineCountOf(Buffer.from('one\n\0\n'))).toBeNull()
})
