import type { SagaFlag, SagaFlagKind } from '@switchyard/domain/saga'
import type { PoolClient } from 'pg'
import { type SagaRow, type SagaView, sagaRowColumns, toSagaView } from './list-sagas.js'
import { type Readable, readRows } from './read-query.js'

/** The data about a saga that is stored in other tables. */
export interface SagaDetails {
  /** Of its activities; null without any. */
  lastEventAt: Date | null
  tags: string[]
  flags: SagaFlag[]
}

type DetailRow = { sagaId: string; time: Date | null } & (
  | { what: 'event' }
  | { what: 'tag'; text: string }
  | { what: 'flag'; text: SagaFlagKind; activityId: string }
)

const of = (alias: string) => `${alias}.tenant = $1 AND ${alias}.saga_id = ANY($2::text[])`

/** One look-up in each index for all sagas of a page takes half as long as one look-up for each saga. */
const details = {
  name: 'saga-read-details',
  text: `SELECT a.saga_id AS "sagaId", 'event' AS what, NULL AS text, NULL AS "activityId", max(a.last_event_at) AS time
      FROM saga_activities a WHERE ${of('a')} GROUP BY a.saga_id
    UNION ALL
    SELECT t.saga_id, 'tag', t.tag, NULL, NULL FROM saga_tags t WHERE ${of('t')}
    UNION ALL
    SELECT f.saga_id, 'flag', f.kind, f.activity_id, f.since FROM saga_flags f WHERE ${of('f')}`,
}

/** Details by the ids of the sagas; sagas without any details are missing. */
export async function readSagaDetails(
  database: Readable,
  tenant: string,
  sagaIds: readonly string[],
): Promise<Map<string, SagaDetails>> {
  const found = new Map<string, SagaDetails>()
  if (sagaIds.length === 0) return found
  for (const row of await readRows<DetailRow>(database, { ...details, values: [tenant, sagaIds] })) {
    let saga = found.get(row.sagaId)
    if (!saga) {
      saga = { lastEventAt: null, tags: [], flags: [] }
      found.set(row.sagaId, saga)
    }
    add(row, saga)
  }
  for (const { tags, flags } of found.values()) {
    tags.sort()
    flags.sort((a, b) => compare(a.kind, b.kind) || compare(a.activityId ?? '', b.activityId ?? ''))
  }
  return found
}

function add(row: DetailRow, saga: SagaDetails): void {
  if (row.what === 'tag') saga.tags.push(row.text)
  else if (row.what === 'event') saga.lastEventAt = row.time
  else if (row.time) saga.flags.push({ kind: row.text, activityId: row.activityId || null, since: row.time })
}

const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b))

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

/** A deployment that names a saga. Nothing else of it is shown to readers of sagas, who may not see the project. */
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

export interface SagaNote {
  id: number
  authorId: number
  authorName: string
  body: string
  createdAt: Date
}

const noteColumns = `id::integer, author_id AS "authorId", author_name AS "authorName", body, created_at AS "createdAt"`

const notesOfSaga = {
  name: 'saga-read-notes',
  text: `SELECT ${noteColumns} FROM saga_notes n WHERE n.tenant = $1 AND n.saga_id = $2 ORDER BY n.id`,
}

/** What operators have written about a saga, in the order in which they did. */
export const listSagaNotes = (database: Readable, tenant: string, sagaId: string): Promise<SagaNote[]> =>
  readRows<SagaNote>(database, { ...notesOfSaga, values: [tenant, sagaId] })

const newNotes = {
  name: 'saga-write-notes',
  text: `INSERT INTO saga_notes (tenant, saga_id, author_id, author_name, body)
    SELECT s.tenant, s.id, $3, $4, $5 FROM sagas s WHERE s.tenant = $1 AND s.id = ANY($2::text[])
    RETURNING ${noteColumns}`,
}

export type NewSagaNote = Pick<SagaNote, 'authorId' | 'authorName' | 'body'>

/** Stores a note about each of these sagas that exists, in the transaction of a connection. */
export async function createSagaNotes(
  client: PoolClient,
  { tenant, sagaIds }: { tenant: string; sagaIds: readonly string[] },
  { authorId, authorName, body }: NewSagaNote,
): Promise<SagaNote[]> {
  const { rows } = await client.query<SagaNote>({
    ...newNotes,
    values: [tenant, sagaIds, authorId, authorName, body],
  })
  return rows
}

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
