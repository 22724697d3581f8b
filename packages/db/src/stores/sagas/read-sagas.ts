import type { Activity } from '@switchyard/domain/saga'
import type { Database, DatabaseOrTransaction } from '../../client.js'
import type { Prisma, Saga } from '../../generated/client.js'
import { activityColumns, selectList } from './columns.js'

export interface SagaFilter {
  tenant: string
  /** Exactly this name. */
  serviceName?: string
  status?: string
}

/** One page of a tenant's sagas, those with the newest events first, and how many there are in all. */
export async function listSagas(
  { prisma }: DatabaseOrTransaction,
  filter: SagaFilter,
  rows: { skip: number; take: number },
): Promise<{ sagas: Saga[]; total: number }> {
  const where: Prisma.SagaWhereInput = { ...filter }
  const [sagas, total] = await Promise.all([
    prisma.saga.findMany({ where, orderBy: [{ lastEventAt: 'desc' }, { id: 'asc' }], ...rows }),
    prisma.saga.count({ where }),
  ])
  return { sagas, total }
}

export const findSaga = (
  { prisma }: DatabaseOrTransaction,
  tenant: string,
  id: string,
): Promise<Saga | null> => prisma.saga.findUnique({ where: { tenant_id: { tenant, id } } })

/** A payload without all of its bytes. */
export interface PayloadHead {
  /** Bytes of the whole payload. */
  size: number
  /** Of the whole payload, in hexadecimal. */
  sha256: string
  /** Its first bytes. */
  head: Buffer
}

export interface SagaActivityDetail extends Omit<Activity, 'parameterData' | 'resultData'> {
  /** Null when none was reported. */
  parameter: PayloadHead | null
  result: PayloadHead | null
}

const payloadHead = (column: string, key: string) => `octet_length(a.${column}) AS "${key}Size",
  encode(sha256(a.${column}), 'hex') AS "${key}Sha256", substring(a.${column} FROM 1 FOR $3) AS "${key}Head"`

const activitiesOfSaga = {
  name: 'saga-activities-of-saga',
  text: `SELECT ${selectList('a', activityColumns)},
      ${payloadHead('parameter_data', 'parameter')}, ${payloadHead('result_data', 'result')}
    FROM saga_activities a WHERE a.tenant = $1 AND a.saga_id = $2
    ORDER BY a."order" NULLS LAST, a.first_seen_at, a.id`,
}

type Head<Key extends string> = Record<`${Key}Size`, number | null> &
  Record<`${Key}Sha256`, string> &
  Record<`${Key}Head`, Buffer>

type ActivityRow = Omit<Activity, 'parameterData' | 'resultData'> & Head<'parameter'> & Head<'result'>

/** The activities of a saga in their order; those without one stand last, in the order in which they were seen. */
export async function listSagaActivities(
  { pool }: Pick<Database, 'pool'>,
  tenant: string,
  sagaId: string,
  headBytesMax: number,
): Promise<SagaActivityDetail[]> {
  const { rows } = await pool.query<ActivityRow>({
    ...activitiesOfSaga,
    values: [tenant, sagaId, headBytesMax],
  })
  return rows.map(
    ({
      parameterSize,
      parameterSha256,
      parameterHead,
      resultSize,
      resultSha256,
      resultHead,
      ...activity
    }) => ({
      ...activity,
      parameter: toHead(parameterSize, parameterSha256, parameterHead),
      result: toHead(resultSize, resultSha256, resultHead),
    }),
  )
}

const toHead = (size: number | null, sha256: string, head: Buffer): PayloadHead | null =>
  size === null ? null : { size, sha256, head }
