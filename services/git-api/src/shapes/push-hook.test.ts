import { expect, test } from 'vitest'
import { presentPushOptions } from './push-hook.js'

test.each([
  [[], {}],
  [['ci.skip'], { ci: { skip: true } }],
  [['ci.skip', 'ci.skip=no'], { ci: { skip: 'no' } }],
  [['ci.variable=A=1', 'ci.variable=B=', 'ci.variable=A=1'], { ci: { variable: { 'A=1': 2, 'B=': 1 } } }],
  [['mr.create', 'merge_request.target=main'], { merge_request: { create: true, target: 'main' } }],
  [['ours.is.it=a.b'], { ours: { 'is.it': 'a.b' } }],
  [['plain', '.x', 'x.', 'x.=1', '=a.b'], {}],
] as const)('%j is shown as %j', (options, shown) => {
  expect(presentPushOptions(options)).toEqual(shown)
})

test('names of built-in object properties are names like any other', () => {
  expect(JSON.stringify(presentPushOptions(['__proto__.polluted=1', 'constructor.x']))).toBe(
    '{"__proto__":{"polluted":"1"},"constructor":{"x":true}}',
  )
  expect(({} as Record<string, unknown>).polluted).toBeUndefined()
})
