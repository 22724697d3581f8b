import type { Database, DatabaseOrTransaction } from '@switchyard/db'
import { SagaLedger } from '@switchyard/domain/saga'
import { decoders } from '../src/rpc/decoders.js'
import { sagaEventOf } from '../src/use-cases/report-event.js'
import type { Operation } from './grpc-client.js'

/** The log of a tenant, in its order. */
export const readLog = ({ prisma }: DatabaseOrTransaction, tenant = 'default') =>
  prisma.sagaEvent.findMany({ where: { tenant }, orderBy: { id: 'asc' } })

const withoutTenant = ({ tenant: _, ...row }: { tenant: string; id: string }) => row
const byId = (a: { id: string }, b: { id: string }) => a.id.localeCompare(b.id)
/** Every binary type is compared as hexadecimal text. */
const comparable = (rows: { id: string }[]) =>
  [...rows].sort(byId).map((row) =>
    Object.fromEntries(
      Object.entries<unknown>(row)
        .map(([key, value]) => [
          key,
          value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value,
        ])
        .sort(),
    ),
  )

/** The derived rows of a tenant as they are, and as they follow from its log alone, at one instant. */
export const deriveFromLog = (database: Database, tenant = 'default') =>
  // A killed process leaves transactions behind that may still commit between two reads.
  database.prisma.$transaction((prisma) => derive({ prisma }, tenant), { isolationLevel: 'RepeatableRead' })

async function derive(database: DatabaseOrTransaction, tenant: string) {
  const ledger = new SagaLedger()
  for (const { operation, request, eventTime, receivedAt } of await readLog(database, tenant)) {
    const raw = decoders[operation as Operation](request)
    ledger.apply(sagaEventOf(raw, eventTime), receivedAt)
  }
  const sagas = await database.prisma.saga.findMany({ where: { tenant } })
  const activities = await database.prisma.sagaActivity.findMany({ where: { tenant } })
  return {
    stored: {
      sagas: comparable(sagas.map(withoutTenant)),
      activities: comparable(activities.map(withoutTenant)),
    },
    derived: { sagas: comparable(ledger.sagas), activities: comparable(ledger.activities) },
  }
}
