import { expect, it } from 'vitest'
import type { FoundImpact } from '../../../generated/types.gen'
import { surestOfEach } from './began-with'

it('a failure is laid to the surest deployment of each service that has it', () => {
  const found = [
    { service_name: 'payments', id: 1, chance: 3e-9 },
    { service_name: 'payments', id: 2, chance: 2e-24 },
    { service_name: 'checkout', id: 3, chance: 1e-4 },
  ] as unknown as FoundImpact[]
  expect(surestOfEach(found).map(({ service_name, chance }) => [service_name, chance])).toEqual([
    ['payments', 2e-24],
    ['checkout', 1e-4],
  ])
})
