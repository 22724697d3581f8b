import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createMix, measureCapacity } from '../../support/mix.js'
import { startTree } from '../../support/tree.js'

const rounds = 3
const callers = 8

let received = 0
const receiver = createServer((request, response) => {
  request.on('data', (chunk: Buffer) => {
    received += chunk.length
  })
  request.on('end', () => response.end())
}).listen(0, '127.0.0.1')
await once(receiver, 'listening')
const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`

const all = { OTEL_EXPORTER_OTLP_ENDPOINT: url }
const variants: Record<string, Record<string, string>> = {
  off: {},
  'one in ten': { ...all, OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.1' },
  all,
}

for (let round = 1; round <= rounds; round += 1) {
  for (const [name, environment] of Object.entries(variants)) {
    received = 0
    const tree = await startTree({ env: { SAGA_AUTH: 'token', RATE_LIMIT_PER_MINUTE: '0', ...environment } })
    try {
      const mix = await createMix(tree)
      // The first rounds are slow, because code is compiled and plans have no statistics.
      await measureCapacity(mix, callers, 15)
      const perSecond = await measureCapacity(mix, callers, 20)
      await mix.close()
      const megabytes = (received / 1e6).toFixed(1)
      console.log(`${name.padEnd(12)} ${perSecond.toFixed(1)} a second, ${megabytes} MB of spans`)
    } finally {
      await tree.stop()
    }
  }
}
receiver.close()
receiver.closeAllConnections()
