import type { Database, DatabaseOrTransaction } from '@switchyard/db'
import { contentKeyOf, SagaLedger } from '@switchyard/domain/saga'
import { sagaEventOf } from '../src/report/report.js'
import { decoders } from '../src/shapes/operations.js'
import type { Operation } from './grpc-client.js'

/** Reads the log of a tenant, in order. */
export const readLog = ({ prisma }: DatabaseOrTransaction, tenant = 'default') =>
  prisma.sagaEvent.findMany({ where: { tenant }, orderBy: { id: 'asc' } })

/** Returns the row without its tenant, and with content keys in the domain's form. */
const asDerived = <Row extends { tenant: string; id: string; contentKeys: Uint8Array }>({
  tenant: _tenant,
  contentKeys,
  ...row
}: Row) => ({ ...row, contentKeys: Buffer.from(contentKeys).toString('latin1') })
const byId = (a: { id: string }, b: { id: string }) => a.id.localeCompare(b.id)
/** Returns rows in which every binary value is a hexadecimal text. */
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

/** Returns the derived rows of a tenant, as stored and as they follow from its log alone, at one instant. */
export const deriveFromLog = (database: Database, tenant = 'default') =>
  // A killed process leaves transactions that may still commit between two reads.
  database.prisma.$transaction((prisma) => derive({ prisma }, tenant), { isolationLevel: 'RepeatableRead' })

async function derive(database: DatabaseOrTransaction, tenant: string) {
  const ledger = new SagaLedger()
  for (const row of await readLog(database, tenant)) {
    const raw = decoders[row.operation as Operation](row.request)
    const contentKey = row.eventId === null ? contentKeyOf(row.contentKey) : null
    ledger.apply(sagaEventOf(raw, row.eventTime), row.receivedAt, {
      contentKey,
      attempt: row.attempt,
      parentSagaId: row.parentSagaId,
    })
  }
  const sagas = await database.prisma.saga.findMany({ where: { tenant } })
  const activities = await database.prisma.sagaActivity.findMany({ where: { tenant } })
  return {
    stored: {
      sagas: comparable(sagas.map(asDerived)),
      activities: comparable(activities.map(asDerived)),
    },
    derived: { sagas: comparable(ledger.sagas), activities: comparable(ledger.activities) },
  }
}

/** Returns the sagas and activities of a tenant with all times replaced by the same text. */
export async function rowsWithoutTimes(database: Database, tenant: string): Promise<unknown> {
  const { stored } = await deriveFromLog(database, tenant)
  const text = JSON.stringify(stored, (_key, value) =>
    typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value) ? 'time' : value,
  )
  return JSON.parse(text)
}
