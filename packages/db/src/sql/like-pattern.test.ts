import { expect, it } from 'vitest'
import { likeText } from './like-pattern.js'

it('takes every wildcard of LIKE at its word', () => {
  expect(likeText('100%_a\\b')).toBe('100\\%\\_a\\\\b')
})
