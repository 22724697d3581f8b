import document from '@switchyard/contracts/openapi.json' with { type: 'json' }
import { expect, it } from 'vitest'
import { hasAddress } from './saga-address'

const words = new Set(
  Object.keys(document.paths).flatMap((path) => /^\/sagas\/([^/{]+)/.exec(path)?.slice(1) ?? []),
)

it('a saga whose id is a word of the API is not requested, because the answer would be about something else', () => {
  expect(words.size).toBeGreaterThan(5)
  for (const word of words) expect(hasAddress(word), word).toBe(false)
})

it('every other id has an address', () => {
  for (const id of ['order-1', 'webhooks-1', 'a/b', '...']) expect(hasAddress(id), id).toBe(true)
})
