import { expect, it } from 'vitest'
import { countFailure, restartDelayMs } from './back-off.js'

it('each crash in a row doubles the pause, up to half a minute', () => {
  const delays = [1, 2, 3, 4, 8, 20].map((failures) => restartDelayMs(failures, false))
  expect(delays).toEqual([250, 500, 1000, 2000, 30_000, 30_000])
})

it('the pause of a process that has answered is a second at most, however often it is killed', () => {
  const delays = [1, 2, 3, 4, 20].map((failures) => restartDelayMs(failures, true))
  expect(delays).toEqual([250, 500, 1000, 1000, 1000])
})

it('a process that ran for some time starts counting from the beginning', () => {
  expect(countFailure(5, 100)).toBe(6)
  expect(countFailure(5, 30_000)).toBe(1)
})
