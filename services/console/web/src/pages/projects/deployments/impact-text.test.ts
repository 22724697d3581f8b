import { expect, it } from 'vitest'
import type { FoundImpact } from '../../../generated/types.gen'
import { beganText, changeText, confidenceText, ratioText, shareText, surestOfEach } from './impact-text'

it.each([
  [1e-6, 'over 99.9999 %'],
  [1e-5, 'over 99.999 %'],
  [0.009, 'over 99 %'],
  [0, 'over 99.9999999 %'],
])('a p-value of %d is a confidence that is never whole', (pValue, text) => {
  expect(confidenceText(pValue)).toBe(text)
})

it('every figure has its count', () => {
  expect(shareText(3, 120)).toBe('3 of 120 sagas (2.5 %)')
  expect(shareText(0, 0)).toBe('no sagas')
  const samples = { samples_before: 120, samples_after: 80 }
  expect(changeText({ measure: 'failures', before: 0, after: 0.25, ...samples })).toBe(
    '0.0 % of 120 before, 25.0 % of 80 from the change on',
  )
  expect(changeText({ measure: 'duration', before: 1, after: 3, ...samples })).toBe(
    '1.0 s of 120 before, 3.0 s of 80 after',
  )
})

it('a ratio says how many times larger a figure is', () => {
  expect([ratioText(3), ratioText(12.3456), ratioText(null)]).toEqual([
    '3 times as much',
    '12.3 times as much',
    'none before',
  ])
})

it('a failure has its start', () => {
  expect(beganText('2026-01-01T00:03:20Z', '2026-01-01T00:00:00Z')).toBe('Began 3 minutes after')
  expect(beganText('2026-01-01T00:00:01Z', '2026-01-01T00:00:00Z')).toBe('Began 1 second after')
  expect(beganText('2026-01-01T00:00:00Z', '2026-01-01T00:01:00Z')).toBe('Began during')
})

it('a failure is attributed to the most certain deployment of each service, and to a dismissed one only without another', () => {
  const found = [
    { service_name: 'payments', chance: 3e-9, dismissed: false },
    { service_name: 'payments', chance: 2e-24, dismissed: false },
    { service_name: 'payments', chance: 1e-30, dismissed: true },
    { service_name: 'checkout', chance: 1e-4, dismissed: true },
    { service_name: 'checkout', chance: 1e-6, dismissed: true },
  ] as FoundImpact[]
  expect(surestOfEach(found).map(({ service_name, chance }) => [service_name, chance])).toEqual([
    ['payments', 2e-24],
    ['checkout', 1e-6],
  ])
})
