import { expect, it } from 'vitest'
import { numberOf, objectOf } from './values.js'

it.each([null, undefined, '', 'soon', true, {}])('%j is no number', (value) => {
  expect(numberOf(value)).toBeNull()
})

it.each([null, '', '{', 'null', '[]', '1', '"x"'])('%j is no JSON object', (text) => {
  expect(objectOf(text)).toBeNull()
})
