import { expect, it } from 'vitest'
import { likeText } from './parameters.js'

it('treats every wildcard of LIKE as an ordinary character', () => {
  expect(likeText('100%_a\\b')).toBe('100\\%\\_a\\\\b')
})
