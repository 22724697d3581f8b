import { expect, it } from 'vitest'
import { createBoundedLabels } from './bounded-labels.js'

it('the number of service names in metrics is bounded', () => {
  const label = createBoundedLabels(2)
  expect(['a', 'b', 'c', 'a', 'd', null].map(label)).toEqual(['a', 'b', 'other', 'a', 'other', 'unknown'])
})
