import { parseArgs } from 'node:util'
import { expect, it } from 'vitest'
import { commandLineProblem } from './command-line-problem.js'

const options = { seconds: { type: 'string' }, check: { type: 'boolean' } } as const

it.each([
  [['--what'], "Unknown option '--what'"],
  [['--what=1. 2'], "Unknown option '--what'"],
  [['--seconds'], "Option '--seconds <value>' argument missing"],
  [['--seconds', '--check'], "Option '--seconds' argument is ambiguous"],
  [['--check=1'], "Option '--check' does not take an argument"],
])('the problem of %j is one sentence', (args, problem) => {
  const read = () => parseArgs({ args, allowPositionals: true, options })
  expect(read).toThrow()
  try {
    read()
  } catch (error) {
    expect(commandLineProblem(error)).toBe(problem)
  }
})
