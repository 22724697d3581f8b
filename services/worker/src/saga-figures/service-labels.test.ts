import { expect, it } from 'vitest'
import { createServiceLabels } from './service-labels.js'

it('keeps the number of service names in figures bounded', () => {
  const label = createServiceLabels(2)
  expect(['a', 'b', 'c', 'a', 'd', null].map(label)).toEqual(['a', 'b', 'other', 'a', 'other', 'unknown'])
})
