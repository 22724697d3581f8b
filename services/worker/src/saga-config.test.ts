import { expect, it } from 'vitest'
import { z } from 'zod'
import { sagaFields, sagaSettingsOf } from './saga-config.js'

const schema = z.object(sagaFields)

it('settings of sagas have valid defaults', () => {
  expect(sagaSettingsOf(schema.parse({}))).toMatchObject({
    sweepEveryMs: 15_000,
    flagRules: { graceMs: 5000, stuckAfterMs: 900_000, parkedAfterMs: 86_400_000 },
    retention: [{ service: null, kind: 'ended', keepMs: 30 * 86_400_000 }],
  })
})

it('settings of sagas name the invalid rule of a retention', () => {
  const parsed = schema.safeParse({ SAGA_RETENTION: 'ended=30d, done=7d' })
  expect(parsed.error?.issues).toMatchObject([
    { path: ['SAGA_RETENTION'], message: expect.stringContaining('"done" in "done=7d" is none of ended') },
  ])
})
