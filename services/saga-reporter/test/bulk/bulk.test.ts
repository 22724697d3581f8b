import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTokens, startHarness, startService } from '../harness.js'
import { runRebuild } from '../rebuild/saga-rebuild.js'
import { createSagas, minute } from '../saga-rows.js'
import { bulkClient, failure } from './bulk-sagas.js'

let harness: Awaited<ReturnType<typeof startHarness>>
let tokens: Awaited<ReturnType<typeof createTokens>>
let api: ReturnType<typeof bulkClient>

beforeAll(async () => {
  harness = await startHarness()
  tokens = await createTokens(harness.database)
  api = bulkClient(harness, tokens)
})
afterAll(() => harness?.close())

const audited = (entityType: string, entityId: string | number) =>
  harness.database.prisma.auditEvent.findMany({
    where: { entityType, entityId: String(entityId) },
    orderBy: { id: 'asc' },
  })

const numbered = (count: number, prefix: string) =>
  Array.from({ length: count }, (_, index) => `${prefix}-${index}`)

describe('a bulk job', () => {
  it('resolves every saga of the filter like a single resolve, and returns the result of each', async () => {
    const ids = numbered(450, 'all')
    await api.report(ids.flatMap((id) => failure(id, 'all')))
    await api.report([{ operation: 'SagaStarted', saga_id: 'all-fine', service_name: 'all' }])
    const filter = { service_name: 'all' }
    const preview = await api.send('POST', 'sagas/bulk/preview', { body: { filter } })
    expect(preview.status).toBe(200)
    expect(await preview.json()).toEqual({ matched: 451, statuses: { Error: 450, Started: 1 } })

    const job = await api.start({ action: 'resolve', note: 'Refunded.', filter, expected_count: 451 })
    expect(job).toMatchObject({ state: 'running', action: 'resolve', matched: 451, filter })
    expect(await api.ended(job.id, 'finished')).toMatchObject({
      matched: 451,
      done: 450,
      failed: 1,
      undone: 0,
      undo_failed: 0,
      undone_by: null,
      finished_at: expect.stringMatching(/Z$/),
    })
    expect(await api.json('sagas/all-7')).toMatchObject({
      status: 'Ended',
      resolution: { note: 'Refunded.', by: expect.any(String) },
    })
    expect(await api.json(`sagas/bulk/${job.id}/results?state=failed`)).toEqual([
      {
        position: expect.any(Number),
        saga_id: 'all-fine',
        state: 'failed',
        error: 'There is nothing to resolve: the saga is Started',
      },
    ])
    const seen: string[] = []
    let path = `sagas/bulk/${job.id}/results?per_page=100`
    for (;;) {
      const page = await api.send('GET', path)
      seen.push(...((await page.json()) as { saga_id: string }[]).map(({ saga_id }) => saga_id))
      const next = page.headers.get('X-Next-Cursor')
      if (next === null) break
      path = `sagas/bulk/${job.id}/results?per_page=100&after=${next}`
    }
    expect(seen.sort()).toEqual([...ids, 'all-fine'].sort())
    expect(await audited('SagaBulkJob', job.id)).toMatchObject([
      { eventName: 'saga_bulk_resolve', details: { tenant: 'default', matched: 451 } },
    ])
    expect(await audited('Saga', 'all-7')).toMatchObject([
      { eventName: 'saga_resolved', details: { tenant: 'default', bulk_job: job.id } },
    ])
    expect(await audited('Saga', 'all-fine')).toEqual([])
  })

  it('is undone, except where the saga has changed since, and the log agrees', async () => {
    await api.report(['u-1', 'u-2', 'u-3', 'u-4'].flatMap((id) => failure(id, 'undo')))
    // A saga that was resolved before gets its former resolution back.
    await api.send('POST', 'sagas/u-2/resolve', { body: { note: 'first' } })
    await api.report([
      { operation: 'ActivityCompensateAborted', saga_id: 'u-2', activity_id: 'u-2-b', errors: 'again' },
    ])
    const filter = { service_name: 'undo', status: 'Error' }
    const job = await api.start({ action: 'resolve', note: 'second', filter })
    expect(await api.ended(job.id, 'finished')).toMatchObject({ done: 4, failed: 0 })
    expect(await api.json('sagas/u-2')).toMatchObject({ status: 'Ended', resolution: { note: 'second' } })
    await api.report([
      { operation: 'ActivityCompensateAborted', saga_id: 'u-3', activity_id: 'u-3-b', errors: 'later' },
    ])
    await api.send('POST', 'sagas/u-3/resolve', { body: { note: 'third' } })
    await api.report([{ operation: 'ActivityCompensated', activity_id: 'u-4-a' }])

    const undo = await api.send('POST', `sagas/bulk/${job.id}/undo`)
    expect(undo.status).toBe(202)
    expect(await undo.json()).toMatchObject({ id: job.id, state: 'undoing' })
    expect(await api.ended(job.id, 'undone')).toMatchObject({
      done: 4,
      undone: 2,
      undo_failed: 2,
      undone_by: expect.any(String),
    })
    expect(await api.json('sagas/u-1')).toMatchObject({ status: 'Error', resolution: null })
    expect(await api.json('sagas/u-2')).toMatchObject({ status: 'Error', resolution: { note: 'first' } })
    expect(await api.json('sagas/u-3')).toMatchObject({ status: 'Ended', resolution: { note: 'third' } })
    expect(await api.json('sagas/u-4')).toMatchObject({ status: 'Ended', resolution: { note: 'second' } })
    expect((await api.json('sagas/u-2/events')).at(-1)).toMatchObject({
      operation: 'OperatorResolutionUndone',
      request: { saga_id: 'u-2', previous_resolved_at: expect.stringMatching(/Z$/) },
    })
    const failed = await api.json(`sagas/bulk/${job.id}/results?state=undo_failed`)
    expect(failed).toMatchObject([{ error: 'The saga has changed since' }, {}])
    expect((await audited('Saga', 'u-1')).map(({ eventName }) => eventName)).toEqual([
      'saga_resolved',
      'saga_resolution_undone',
    ])
    expect((await api.send('POST', `sagas/bulk/${job.id}/undo`)).status).toBe(409)
    // A saga whose resolution was undone can be resolved again.
    expect((await api.send('POST', 'sagas/u-1/resolve', { body: { note: 'once more' } })).status).toBe(200)
    const { code, lines } = await runRebuild(harness.serviceUrl, '--verify')
    expect([code, lines.at(-1)]).toEqual([0, expect.stringMatching(/; 0 differences, 0 repaired$/)])
  })

  it('is canceled after the current step, and its completed steps can be undone', async () => {
    // The steps after the second one leave time for the cancellation.
    const matched = 1200
    await api.report(numbered(matched, 'stop').flatMap((id) => failure(id, 'stop')))
    const { pool } = harness.database
    // The job stops in its second step, at a saga that another transaction has locked.
    const locking = await pool.connect()
    await locking.query(`BEGIN; SELECT FROM sagas WHERE (tenant, id) = (SELECT tenant, id FROM sagas
      WHERE service_name = 'stop' ORDER BY first_seen_at DESC, id OFFSET 300 LIMIT 1) FOR UPDATE`)
    const { id } = await api.start({ action: 'resolve', note: 'x', filter: { service_name: 'stop' } })
    await expect.poll(async () => (await api.json(`sagas/bulk/${id}`)).done).toBe(200)
    const canceling = api.send('POST', `sagas/bulk/${id}/cancel`)
    const waiting = async () =>
      (
        await pool.query(
          "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
        )
      ).rowCount
    await expect.poll(waiting).toBe(2)
    await locking.query('ROLLBACK')
    locking.release()
    const canceled = await canceling
    const job = (await canceled.json()) as { done: number }
    expect(canceled.status).toBe(200)
    expect(job).toMatchObject({ state: 'canceled', matched, finished_at: expect.any(String) })
    expect(job.done).toBeLessThan(matched)
    expect(await api.json(`sagas/bulk/${id}`)).toEqual(job)
    const left = await api.send('GET', 'sagas?service_name=stop&with_counts=true&per_page=1')
    expect(left.headers.get('X-Status-Counts')).toContain(`Error=${matched - job.done}`)
    expect((await api.send('POST', `sagas/bulk/${id}/cancel`)).status).toBe(409)
    expect((await audited('SagaBulkJob', id)).map(({ eventName }) => eventName)).toEqual([
      'saga_bulk_resolve',
      'saga_bulk_cancel',
    ])
    await api.send('POST', `sagas/bulk/${id}/undo`)
    expect(await api.ended(id, 'undone')).toMatchObject({ undone: job.done, undo_failed: 0 })
  })

  it('selects the sagas of one cause by the fingerprint of their errors', async () => {
    const bank = failure('cause-1', 'cause', 'caused').map((event) =>
      'errors' in event ? { ...event, errors: 'The bank 17 is closed' } : event,
    )
    await api.report([...bank, ...failure('cause-2', 'cause', 'caused')])
    const { failures } = await api.json('sagas/stats?tenant=caused')
    const { fingerprint } = failures.find(({ sample }: { sample: string }) => sample.startsWith('The bank'))
    const body = { tenant: 'caused', filter: { fingerprint } }
    const preview = await api.send('POST', 'sagas/bulk/preview', { body })
    expect(await preview.json()).toMatchObject({ matched: 1 })
    const { id } = await api.start({ ...body, action: 'resolve', note: 'It opened' })
    const results = `sagas/bulk/${id}/results?tenant=caused`
    await expect.poll(() => api.json(results)).toMatchObject([{ saga_id: 'cause-1', state: 'done' }])
    expect(await api.json(results)).toHaveLength(1)
  })

  it('writes a note about every saga, even one that has not failed, and only within its tenant', async () => {
    await createSagas(harness.database, [
      { id: 'n-1', tenant: 'acme', serviceName: 'noted', firstSeenAt: minute(1) },
      { id: 'n-2', tenant: 'acme', serviceName: 'noted', firstSeenAt: minute(2) },
      { id: 'n-1', serviceName: 'noted', firstSeenAt: minute(1) },
    ])
    const filter = { service_name: 'noted' }
    const job = await api.start({ tenant: 'acme', action: 'note', note: 'Looked at.', filter })
    expect(job.matched).toBe(2)
    const path = `sagas/bulk/${job.id}?tenant=acme`
    await expect.poll(() => api.json(path)).toMatchObject({ state: 'finished', done: 2 })
    expect(await api.json('sagas/n-2?tenant=acme')).toMatchObject({ notes: [{ body: 'Looked at.' }] })
    expect(await api.json('sagas/n-1')).toMatchObject({ notes: [] })
    expect(await audited('Saga', 'n-2')).toMatchObject([{ eventName: 'saga_note_added' }])
    expect((await api.send('GET', `sagas/bulk/${job.id}`)).status).toBe(404)
    const undo = await api.send('POST', `sagas/bulk/${job.id}/undo?tenant=acme`)
    expect([undo.status, await undo.json()]).toEqual([
      409,
      expect.objectContaining({ message: 'Notes cannot be undone' }),
    ])
    const listed = await api.send('GET', 'sagas/bulk?tenant=acme')
    expect(listed.headers.get('X-Total')).toBe('1')
    expect(await listed.json()).toMatchObject([{ id: job.id }])
  })

  it('continues in another process after its own has ended, and processes no saga twice', async () => {
    const ids = numbered(1500, 'long')
    await createSagas(
      harness.database,
      ids.map((id) => ({ id, tenant: 'long', serviceName: 'long', status: 'Error', firstSeenAt: minute(1) })),
    )
    const first = await startService(harness.serviceUrl)
    // The job stops in the middle, at a saga that another transaction has locked.
    const locking = await harness.database.pool.connect()
    await locking.query("BEGIN; SELECT FROM sagas WHERE tenant = 'long' AND id = 'long-5' FOR UPDATE")
    const { id } = await bulkClient(first, tokens).start({
      tenant: 'long',
      action: 'note',
      note: 'Seen.',
      filter: { service_name: 'long' },
    })
    const path = `sagas/bulk/${id}?tenant=long`
    await expect.poll(async () => (await api.json(path)).done).toBe(800)
    const closing = first.close()
    await locking.query('ROLLBACK')
    locking.release()
    await closing
    await expect.poll(() => api.json(path)).toMatchObject({ state: 'finished', done: 1500 })
    expect(await harness.database.prisma.sagaNote.count({ where: { tenant: 'long' } })).toBe(1500)
  })

  it('of a killed process continues in another one when its lease has ended', async () => {
    await createSagas(harness.database, [
      { id: 'k-1', tenant: 'killed', serviceName: 'killed', firstSeenAt: minute(1) },
    ])
    await harness.database.pool.query(
      `INSERT INTO saga_bulk_jobs (tenant, id, action, note, filter, matched, author_id, author_name, audit_author,
         active_user_id, owner, owned_until)
       VALUES ('killed', 1000000, 'note', 'x', '{}', 1, 1, 'root', $1, 1000000, 'gone', now() + interval '3 seconds')`,
      [{ authorId: 1, authorName: 'root', tokenId: 1, requestId: 'r', ipAddress: null }],
    )
    await harness.database.pool.query(
      `INSERT INTO saga_bulk_items (tenant, job_id, position, saga_id) VALUES ('killed', 1000000, 1, 'k-1')`,
    )
    expect(await api.json('sagas/bulk/1000000?tenant=killed')).toMatchObject({ state: 'running', done: 0 })
    await expect
      .poll(() => api.json('sagas/bulk/1000000?tenant=killed'))
      .toMatchObject({ state: 'finished', done: 1 })
  })
})

describe('POST /sagas/bulk', () => {
  const valid = { action: 'note', note: 'x', filter: { service_name: 'nobody' } }

  it.each([
    [{ filter: undefined }, 'filter is missing'],
    [{ filter: {} }, 'filter is empty'],
    [{ filter: { status: '' } }, 'filter is empty'],
    [{ filter: { stauts: 'Error' } }, 'filter[stauts] is not a filter'],
    [{ filter: { status: 'Lost' } }, 'filter[status] does not have a valid value'],
    [{ filter: { errors_contains: 'ab' } }, 'filter[errors_contains] is too short (minimum is 3 characters)'],
    [{ action: 'delete' }, 'action does not have a valid value'],
    [{ note: ' ' }, 'note is empty'],
    [{ note: 'x'.repeat(10_001) }, 'note is too long (maximum is 10000 characters)'],
    [{ expected_count: -1 }, 'expected_count does not have a valid value'],
  ])('answers 400 for %j and starts nothing', async (given, error) => {
    const before = await harness.database.prisma.sagaBulkJob.count()
    const response = await api.send('POST', 'sagas/bulk', { body: { ...valid, ...given } })
    expect([response.status, await response.json()]).toEqual([400, expect.objectContaining({ error })])
    expect(await harness.database.prisma.sagaBulkJob.count()).toBe(before)
  })

  it('answers 409 when the filter finds another number of sagas than expected', async () => {
    const response = await api.send('POST', 'sagas/bulk', { body: { ...valid, expected_count: 3 } })
    expect([response.status, await response.json()]).toEqual([
      409,
      expect.objectContaining({ message: 'The filter finds 0 sagas and not 3' }),
    ])
  })

  it('answers 409 while another job of the same user runs', async () => {
    const { id: userId } = await harness.database.prisma.user.findFirstOrThrow({ where: { admin: true } })
    await harness.database.pool.query(
      `INSERT INTO saga_bulk_jobs (tenant, action, note, filter, author_id, author_name, audit_author,
         active_user_id, owner, owned_until)
       VALUES ('other', 'note', 'x', '{}', $1, 'root', '{}', $1, 'elsewhere', now() + interval '1 hour')`,
      [userId],
    )
    const response = await api.send('POST', 'sagas/bulk', { body: valid })
    await harness.database.pool.query("DELETE FROM saga_bulk_jobs WHERE tenant = 'other'")
    expect([response.status, await response.json()]).toEqual([
      409,
      expect.objectContaining({ message: 'You have a bulk job that is still running' }),
    ])
  })

  it('answers 400 when the filter finds more than 100,000 sagas', async () => {
    await harness.database.pool.query(
      `INSERT INTO sagas (tenant, id, service_name, status, first_seen_at, last_event_at)
       SELECT 'many', 's' || n, 'many', 'Started', now(), now() FROM generate_series(1, 100001) n`,
    )
    const body = { ...valid, tenant: 'many', filter: { service_name: 'many' } }
    for (const path of ['sagas/bulk', 'sagas/bulk/preview']) {
      const response = await api.send('POST', path, { body })
      expect([response.status, await response.json()]).toEqual([
        400,
        expect.objectContaining({ error: 'filter finds more than 100000 sagas: narrow it' }),
      ])
    }
    await harness.database.pool.query("DELETE FROM sagas WHERE tenant = 'many'")
  })
})

describe('rights', () => {
  const filter = { service_name: 'nobody' }
  it.each([
    ['POST', 'sagas/bulk', { action: 'note', note: 'x', filter }],
    ['POST', 'sagas/bulk/preview', { filter }],
    ['POST', 'sagas/bulk/1/cancel', {}],
    ['POST', 'sagas/bulk/1/undo', {}],
  ])('%s %s is for administrators with the whole API', async (method, path, body) => {
    for (const [token, status] of [
      [null, 401],
      ['reader', 403],
      ['reporter', 403],
      ['user', 403],
    ] as const)
      expect((await api.send(method, path, { body, token })).status).toBe(status)
  })

  it.each(['sagas/bulk', 'sagas/bulk/2147483647', 'sagas/bulk/2147483647/results'])(
    'GET %s is for readers of sagas',
    async (path) => {
      expect((await api.send('GET', path, { token: null })).status).toBe(401)
      expect((await api.send('GET', path, { token: 'user' })).status).toBe(403)
      expect((await api.send('GET', path, { token: 'reader' })).status).toBe(
        path === 'sagas/bulk' ? 200 : 404,
      )
    },
  )

  it('answers 404 for an unknown job', async () => {
    for (const verb of ['cancel', 'undo']) {
      const response = await api.send('POST', `sagas/bulk/2147483647/${verb}`)
      expect([response.status, await response.json()]).toEqual([
        404,
        expect.objectContaining({ message: '404 Bulk job Not Found' }),
      ])
    }
  })
})

it('jobs are deleted 30 days after their end', async () => {
  await harness.database.pool.query(
    `INSERT INTO saga_bulk_jobs (tenant, action, note, filter, author_id, author_name, audit_author, state, finished_at)
     VALUES ('kept', 'note', 'old', '{}', 1, 'root', '{}', 'finished', now() - interval '31 days'),
       ('kept', 'note', 'new', '{}', 1, 'root', '{}', 'finished', now() - interval '29 days')`,
  )
  const service = await startService(harness.serviceUrl)
  await expect
    .poll(() => harness.database.prisma.sagaBulkJob.findMany({ where: { tenant: 'kept' } }))
    .toMatchObject([{ note: 'new' }])
  await service.close()
})
