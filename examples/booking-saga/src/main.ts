import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createSagaClient } from '@switchyard/saga-client'
import { type Bookings, bookTrip } from './book-trip.js'
import { obeyCommands } from './commands.js'
import { Saga } from './orchestrator.js'

const { SAGA_ADDRESS, SAGA_TOKEN, SAGA_TENANT, SWITCHYARD_URL, BOOKING_STAYS } = process.env

const reporter = createSagaClient({
  address: SAGA_ADDRESS || '127.0.0.1:50051',
  serviceName: 'booking',
  token: SAGA_TOKEN || undefined,
  tenant: SAGA_TENANT || undefined,
  giveUpAfterMs: 10_000,
  onNotStored: ({ operation }, result) => process.stderr.write(`${operation}: ${JSON.stringify(result)}\n`),
})

const bookings: Bookings = new Set()
const sagas = new Map<string, Saga>()
const stays = BOOKING_STAYS === 'true'
if (stays) obeyCommands(reporter, sagas)

for (const card of stays ? ['good', 'declined', 'stolen'] : ['good', 'declined']) {
  const sagaId = `trip-${randomUUID()}`
  const saga = new Saga(reporter, sagaId, bookTrip(bookings, { traveller: sagaId, card }))
  sagas.set(sagaId, saga)
  const outcome = await saga.run()
  const said = outcome === 'succeeded' ? 'booked' : `${outcome}, because ${String(saga.because)}`
  process.stdout.write(`${said}: ${SWITCHYARD_URL || 'http://127.0.0.1:8080'}/api/v4/sagas/${sagaId}\n`)
}

if (stays) await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')])
await reporter.close()
const { refused, lost } = reporter.stats()
process.exitCode = refused + lost > 0 ? 1 : 0
