import { randomUUID } from 'node:crypto'
import { createSagaClient } from '@switchyard/saga-client'
import { type Bookings, bookTrip } from './book-trip.js'
import { runSaga } from './orchestrator.js'

const { SAGA_ADDRESS, SAGA_TOKEN, SAGA_TENANT, SWITCHYARD_URL } = process.env

const reporter = createSagaClient({
  address: SAGA_ADDRESS || '127.0.0.1:50051',
  serviceName: 'booking',
  token: SAGA_TOKEN || undefined,
  tenant: SAGA_TENANT || undefined,
  giveUpAfterMs: 10_000,
  onNotStored: ({ operation }, result) => process.stderr.write(`${operation}: ${JSON.stringify(result)}\n`),
})

const bookings: Bookings = new Set()
for (const card of ['good', 'declined']) {
  const sagaId = `trip-${randomUUID()}`
  const outcome = await runSaga(reporter, sagaId, bookTrip(bookings, { traveller: sagaId, card }))
  const said = outcome.succeeded ? 'booked' : `compensated, because ${String(outcome.because)}`
  process.stdout.write(`${said}: ${SWITCHYARD_URL || 'http://127.0.0.1:8080'}/api/v4/sagas/${sagaId}\n`)
}

await reporter.close()
const { refused, lost } = reporter.stats()
process.exitCode = refused + lost > 0 ? 1 : 0
