import { type Readable, readRows } from './read-query.js'

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
