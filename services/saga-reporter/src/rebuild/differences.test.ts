import { expect, it } from 'vitest'
import { differencesOf, differenceText } from './differences.js'

const row = {
  tenant: 't',
  id: 'a',
  status: 'Executed',
  at: new Date(0),
  data: Buffer.from('x'),
  anomalies: ['y'],
}

it('rows are equal for any binary type, and only the columns that were read are compared', () => {
  const derived = { ...row, at: new Date(0), data: new Uint8Array([120]), anomalies: ['y'], contentKeys: 'k' }
  expect(differencesOf('sagas', [row], [derived])).toEqual([])
})

it('differing, missing and unexpected rows are reported without values', () => {
  const stored = [row, { ...row, id: 'c' }]
  const derived = [
    { ...row, status: 'Revoked', data: Buffer.from('z') },
    { ...row, id: 'b' },
  ]
  expect(differencesOf('saga_activities', stored, derived).map(differenceText)).toEqual([
    'saga_activities t/a: differs in status, data',
    'saga_activities t/b: is missing',
    'saga_activities t/c: has no event in the log',
  ])
})
