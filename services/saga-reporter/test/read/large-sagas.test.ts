import { credentials, Metadata, type ServiceError } from '@grpc/grpc-js'
import {
  type GetSagaResponse,
  ListSagasRequest,
  type ListSagasResponse,
  SagaQueryClient,
} from '@switchyard/contracts/saga-query'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTokens, startHarness } from '../harness.js'
import { createSagas, minute } from '../saga-rows.js'

let harness: Awaited<ReturnType<typeof startHarness>>
let metadata: Metadata
/** Has the limits that clients have by default. */
let client: SagaQueryClient

beforeAll(async () => {
  harness = await startHarness()
  const { reader } = await createTokens(harness.database)
  metadata = new Metadata()
  metadata.set('private-token', reader)
  client = new SagaQueryClient(`127.0.0.1:${harness.grpcPort}`, credentials.createInsecure())
})
afterAll(async () => {
  client?.close()
  await harness?.close()
})

type Callback<Response> = (error: ServiceError | null, response: Response) => void
const answer = <Response>(call: (callback: Callback<Response>) => unknown) =>
  new Promise<Response>((resolve, reject) => {
    call((error, response) => (error ? reject(error) : resolve(response)))
  })
const getSaga = (sagaId: string, pageToken = '') =>
  answer<GetSagaResponse>((callback) => client.getSaga({ tenant: '', sagaId, pageToken }, metadata, callback))
const listSagas = (given: Partial<ListSagasRequest>) =>
  answer<ListSagasResponse>((callback) =>
    client.listSagas(ListSagasRequest.fromPartial(given), metadata, callback),
  )

describe('GetSaga of a saga with large payloads and errors', () => {
  const bytes = 20_000
  const headBytes = 16 * 1024

  async function createLarge(id: string, activities: number, errors: string | null) {
    await createSagas(harness.database, [{ id, firstSeenAt: minute(0) }])
    await harness.database.pool.query(
      `INSERT INTO saga_activities (tenant, id, saga_id, "order", status, first_seen_at, last_event_at,
         parameter_data, result_data, execute_errors, compensate_errors)
       SELECT 'default', rpad($1 || '-' || n, 128, '-'), $1, n, 'CompensateAborted', now(), now(),
         convert_to(repeat('p', $3), 'UTF8'), convert_to(repeat('r', $3), 'UTF8'), $4, $4
       FROM generate_series(1, $2) n`,
      [id, activities, bytes, errors],
    )
  }

  it('fits into the messages that clients accept, and shows which payloads and errors are cut', async () => {
    const errors = 'e'.repeat(16_384)
    await createLarge('large', 1_001, errors)
    const { activities, nextPageToken } = await getSaga('large')
    expect(activities).toHaveLength(1_000)
    for (const { parameter, result, executeErrors = '', ...activity } of activities) {
      expect(parameter?.size).toBe(bytes)
      expect(result?.size).toBe(bytes)
      expect(parameter?.head.length).toBeGreaterThan(500)
      expect(parameter?.head.length).toBeLessThan(headBytes)
      expect(activity.executeErrorsSize).toBe(errors.length)
      expect(executeErrors.length).toBeGreaterThan(500)
      expect(executeErrors.length).toBeLessThan(errors.length)
    }

    const rest = await getSaga('large', nextPageToken)
    expect(rest.nextPageToken).toBe('')
    expect(rest.activities).toMatchObject([
      {
        parameter: { head: Buffer.alloc(headBytes, 'p'), size: bytes },
        result: { head: Buffer.alloc(headBytes, 'r'), size: bytes },
        executeErrors: errors,
        compensateErrors: errors,
      },
    ])
  })

  it('has whole heads while they fit', async () => {
    await createLarge('fits', 120, null)
    for (const { parameter, result } of (await getSaga('fits')).activities)
      expect([parameter?.head.length, result?.head.length]).toEqual([headBytes, headBytes])
  })
})

describe('a saga with many flags and tags', () => {
  const flags = 30_000
  const tags = 5_000

  beforeAll(async () => {
    const ids = ['flagged', 'other-1', 'other-2']
    await createSagas(
      harness.database,
      ids.map((id) => ({ id, serviceName: 'flags', firstSeenAt: minute(0) })),
    )
    const { pool } = harness.database
    await pool.query(
      `INSERT INTO saga_flags (tenant, kind, saga_id, activity_id, since, first_seen_at)
       SELECT 'default', 'overdue', 'flagged', lpad(n::text, 128, '0'), now(), $2::timestamptz FROM generate_series(1, $1) n
       UNION ALL SELECT 'default', 'stuck', id, '', now(), $2::timestamptz FROM unnest($3::text[]) id`,
      [flags, minute(0), ids],
    )
    await pool.query(
      `INSERT INTO saga_tags (tenant, saga_id, tag, first_seen_at)
       SELECT 'default', 'flagged', rpad('key=' || n, 256, '-'), $2 FROM generate_series(1, $1) n`,
      [tags, minute(0)],
    )
  })

  it('is read by GetSaga with the flags of its own, and the others that fit', async () => {
    const { saga } = await getSaga('flagged')
    expect(saga?.flags[0]).toMatchObject({ kind: 'stuck', activityId: undefined })
    expect(saga?.flags.length).toBeGreaterThan(1_000)
    expect(saga?.flags.length).toBeLessThan(flags)
    expect(saga?.tags.length).toBeGreaterThan(1_000)
    expect(saga?.tags.length).toBeLessThan(tags)
  })

  it('is listed by ListSagas, and does not shorten the others', async () => {
    const { sagas } = await listSagas({ serviceName: 'flags', orderBy: 'id', withCounts: true })
    expect(sagas.map(({ sagaId }) => sagaId)).toEqual(['flagged', 'other-1', 'other-2'])
    const [first, ...others] = sagas
    expect(first?.flags.length).toBeGreaterThan(1_000)
    expect(others.map((saga) => saga.flags)).toMatchObject([[{ kind: 'stuck' }], [{ kind: 'stuck' }]])
  })
})
