import { type Readable, readRows } from './read-query.js'

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

const newNote = {
  name: 'saga-write-note',
  text: `INSERT INTO saga_notes (tenant, saga_id, author_id, author_name, body)
    SELECT s.tenant, s.id, $3, $4, $5 FROM sagas s WHERE s.tenant = $1 AND s.id = $2
    RETURNING ${noteColumns}`,
}

/** Null when there is no such saga. */
export async function createSagaNote(
  database: Readable,
  { tenant, sagaId }: { tenant: string; sagaId: string },
  note: Pick<SagaNote, 'authorId' | 'authorName' | 'body'>,
): Promise<SagaNote | null> {
  const values = [tenant, sagaId, note.authorId, note.authorName, note.body]
  const [created] = await readRows<SagaNote>(database, { ...newNote, values })
  return created ?? null
}
