import { expect, it } from 'vitest'
import { createBoundedLabels } from './bounded-labels.js'

it('keeps the number of service names in metrics bounded', () => {
  const label = createBoundedLabels(2)
  expect(['a', 'b', 'c', 'a', 'd', null].map(label)).toEqual(['a', 'b', 'other', 'a', 'other', 'unknown'])
})
