import fc from 'fast-check'
import { Histogram, Registry } from 'prom-client'
import { expect, it } from 'vitest'
import { TallyHistogram } from './tally-histogram.js'

const configuration = { name: 'h', help: 'Help.', labelNames: ['method'], buckets: [0.1, 1, 10] }

it('shows Prometheus what an ordinary histogram shows', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.constantFrom(0, 0.05, 0.1, 0.5, 1, 3, 10, 11)), async (values) => {
      const ordinary = new Registry()
      const histogram = new Histogram({ ...configuration, registers: [ordinary] })
      histogram.zero({ method: 'm' })
      const tallied = new Registry()
      const tally = new TallyHistogram({ ...configuration, registers: [tallied] }).tally({ method: 'm' })
      for (const registry of [ordinary, tallied]) registry.setDefaultLabels({ service: 's' })
      for (const value of values) {
        histogram.observe({ method: 'm' }, value)
        tally.observe(value)
      }
      const lines = (text: string) =>
        text
          .trim()
          .split('\n')
          .map((line) => line.replace(/\{(.*)\}/, (_all, labels: string) => labels.split(',').sort().join()))
      expect(lines(await tallied.metrics())).toEqual(lines(await ordinary.metrics()))
      expect(tally.count).toBe(values.length)
    }),
    { numRuns: 50 },
  )
})
