import { readSagaDetails, type SagaRow, type SagaView, sagaRowColumns, toSagaView } from './list-sagas.js'
import { type Readable, readRows } from './read-query.js'

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

/**
 * A deployment that names a saga. Nothing else of it is shown to readers of sagas, who may not see the
 * project.
 */
export interface SagaDeployment {
  id: number
  projectId: number
  /** Name of the environment. */
  environment: string
  status: string
}

const shownMax = 100

const deploymentsOfSaga = {
  name: 'saga-read-deployments',
  text: `SELECT d.id, d.project_id AS "projectId", e.name AS environment, d.status FROM deployments d
    JOIN environments e ON e.project_id = d.project_id AND e.id = d.environment_id
    WHERE d.saga_tenant = $1 AND d.saga_id = $2 ORDER BY d.id DESC LIMIT ${shownMax}`,
}

/** The newest 100 deployments that name a saga, the newest first. */
export const listSagaDeployments = (
  database: Readable,
  tenant: string,
  sagaId: string,
): Promise<SagaDeployment[]> =>
  readRows<SagaDeployment>(database, { ...deploymentsOfSaga, values: [tenant, sagaId] })

export const payloadKinds = ['parameter', 'result'] as const

export type PayloadKind = (typeof payloadKinds)[number]

export interface StoredPayload {
  /** Bytes of the payload as it was reported. */
  size: number
  /** Of the payload as it was reported, in hexadecimal. */
  sha256: string
  /** The stored bytes: the whole payload, or its head. */
  bytes: Buffer
}

const payloadOf = (kind: PayloadKind) => ({
  name: `saga-read-${kind}`,
  text: `SELECT a.${kind}_data AS bytes, COALESCE(a.${kind}_size, octet_length(a.${kind}_data)) AS size,
      encode(COALESCE(a.${kind}_sha256, sha256(a.${kind}_data)), 'hex') AS sha256
    FROM saga_activities a WHERE a.tenant = $1 AND a.saga_id = $2 AND a.id = $3 AND a.${kind}_data IS NOT NULL`,
})

const statements = { parameter: payloadOf('parameter'), result: payloadOf('result') }

/** The stored bytes of one payload of an activity; null when there is no such activity or payload. */
export async function findActivityPayload(
  database: Readable,
  { tenant, sagaId, activityId }: { tenant: string; sagaId: string; activityId: string },
  kind: PayloadKind,
): Promise<StoredPayload | null> {
  const values = [tenant, sagaId, activityId]
  const [payload] = await readRows<StoredPayload>(database, { ...statements[kind], values })
  return payload ?? null
}
