import { readFile } from 'node:fs/promises'
import { SolvableProblem } from '@switchyard/terminal'
import { expect, it } from 'vitest'
import { isSolvable } from './is-solvable.js'

const errorOf = (work: () => unknown) =>
  Promise.resolve()
    .then(work)
    .catch((error: unknown) => error)

it('a named problem and an error of the operating system are for the operator', async () => {
  expect(isSolvable(new SolvableProblem('no space'))).toBe(true)
  expect(isSolvable(await errorOf(() => readFile('/nowhere/file')))).toBe(true)
})

it('an error of the program is a defect, whose stack is shown, even when Node gives it a code', async () => {
  const error = await errorOf(() => Buffer.alloc(-1))
  expect(error).toMatchObject({ code: 'ERR_OUT_OF_RANGE' })
  expect(isSolvable(error)).toBe(false)
})
