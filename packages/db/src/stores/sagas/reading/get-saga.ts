import { type Readable, readRows } from './read-query.js'
import { readSagaDetails } from './saga-details.js'
import { type SagaRow, type SagaView, sagaRowColumns, toSagaView } from './saga-row.js'

const oneSaga = {
  name: 'saga-read-one',
  text: `SELECT ${sagaRowColumns} FROM sagas s WHERE s.tenant = $1 AND s.id = $2`,
}

/** One saga as readers see it. */
export async function findSagaView(database: Readable, tenant: string, id: string): Promise<SagaView | null> {
  const [[row], details] = await Promise.all([
    readRows<SagaRow>(database, { ...oneSaga, values: [tenant, id] }),
    readSagaDetails(database, tenant, [id]),
  ])
  return row ? toSagaView(row, details.get(id)) : null
}

const anySaga = { name: 'saga-read-exists', text: 'SELECT FROM sagas WHERE tenant = $1 AND id = $2' }

export async function hasSaga(database: Readable, tenant: string, id: string): Promise<boolean> {
  const rows = await readRows(database, { ...anySaga, values: [tenant, id] })
  return rows.length > 0
}
