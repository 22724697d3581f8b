import type { LeasedSaga } from '@switchyard/contracts/saga-recovery'
import { expect, it } from 'vitest'
import { fitMessage } from './grpc.js'

const leased = (...sizes: number[]) =>
  ({
    activities: sizes.map((size) => ({
      parameter: { head: Buffer.alloc(size), size, sha256: '' },
      result: undefined,
    })),
  }) as unknown as LeasedSaga
const failed = (...errors: string[]) =>
  ({
    activities: errors.map((executeErrors) => ({ executeErrors, compensateErrors: undefined })),
  }) as unknown as LeasedSaga
const errorsOf = (sagas: LeasedSaga[]) =>
  sagas.flatMap(({ activities }) => activities.map(({ executeErrors }) => executeErrors))
const headSizes = (sagas: LeasedSaga[]) =>
  sagas.flatMap(({ activities }) => activities.map(({ parameter }) => parameter?.head.length))

it('heads that fit are kept, and the others are cut to equal shares', () => {
  expect(headSizes(fitMessage([leased(100, 50)], 150))).toEqual([100, 50])
  expect(headSizes(fitMessage([leased(100, 50), leased(10)], 120))).toEqual([40, 40, 10])
})

it('errors that fit are kept, and the others are cut to equal shares, without half a character', () => {
  expect(errorsOf(fitMessage([failed('abc', 'def')], 6))).toEqual(['abc', 'def'])
  expect(errorsOf(fitMessage([failed('abcdef'), failed('aöü')], 6))).toEqual(['abc', 'aö'])
})
