import { createDatabase, type Database } from '@switchyard/db'
import { createTestDatabase, type TestDatabase } from '@switchyard/testing'
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  claimSagas,
  extendLease,
  resolveLease,
  returnLeases,
  type SagaClaim,
} from '../../src/recover/store.js'

let testDatabase: TestDatabase
let database: Database

beforeAll(async () => {
  testDatabase = await createTestDatabase()
  database = createDatabase({ url: testDatabase.url, poolSizeMax: 8, applicationName: 'test' })
})
afterAll(async () => {
  await database?.close()
  await testDatabase?.close()
})
beforeEach(() => database.pool.query('TRUNCATE sagas, saga_activities, saga_leases'))

interface Given {
  id: string
  service?: string
  status?: string
  idleSeconds?: number
  ended?: boolean
}

async function addSaga({ id, service = 'booking', status = 'Started', idleSeconds = 600, ended }: Given) {
  await database.pool.query(
    `INSERT INTO sagas (tenant, id, service_name, status, first_seen_at, last_event_at, ended_at)
     SELECT 'default', $1, $2, $3, at, at, CASE WHEN $5 THEN at END
     FROM (SELECT now() - $4 * interval '1 second' AS at) times`,
    [id, service, status, idleSeconds, ended ?? status === 'Ended'],
  )
}

const wanted: SagaClaim = {
  tenant: 'default',
  serviceName: 'booking',
  take: 10,
  leaseSeconds: 60,
  idleSecondsMin: 240,
  worker: 'test',
  withErrors: false,
}
const claim = (given: Partial<SagaClaim> = {}) => claimSagas(database, { ...wanted, ...given })
const claimedIds = async (given: Partial<SagaClaim> = {}) =>
  (await claim(given)).map(({ sagaId }) => sagaId).sort()

/** Ages the leases. */
const pass = (seconds: number) =>
  database.pool.query(
    `UPDATE saga_leases SET leased_at = leased_at - gone, leased_until = leased_until - gone,
       available_at = available_at - gone, resolved_at = resolved_at - gone
     FROM (SELECT $1 * interval '1 second' AS gone) g`,
    [seconds],
  )

async function claimOne() {
  const [lease] = await claim({ take: 1 })
  if (!lease) throw new Error('nothing to claim')
  return lease
}

describe('leased sagas', () => {
  it('are unfinished and idle, the longest idle first', async () => {
    await addSaga({ id: 'idle', idleSeconds: 300 })
    await addSaga({ id: 'idler', idleSeconds: 900 })
    await addSaga({ id: 'overtime', status: 'Overtime', idleSeconds: 600 })
    await addSaga({ id: 'busy', idleSeconds: 10 })
    await addSaga({ id: 'ended', status: 'Ended' })
    await addSaga({ id: 'failed', status: 'Error' })
    await addSaga({ id: 'other', service: 'shipping' })
    expect(await claimedIds({ take: 1 })).toEqual(['idler'])
    expect(await claimedIds()).toEqual(['idle', 'overtime'])
    expect(await claimedIds()).toEqual([])
  })

  it('come in the order of their last events, not of their ids', async () => {
    const idle = [400, 900, 300, 700, 500]
    for (const [index, idleSeconds] of idle.entries()) await addSaga({ id: `s${index}`, idleSeconds })
    await database.pool.query(
      `INSERT INTO saga_activities (tenant, id, saga_id, status, first_seen_at, last_event_at)
       SELECT 'default', 'act', 's1', 'Executing', at, at FROM (SELECT now() - interval '350 s' AS at) times`,
    )
    const ids = async (take: number) => (await claim({ take })).map(({ sagaId }) => sagaId)
    expect(await ids(5)).toEqual(['s3', 's4', 's0', 's1', 's2'])
    await database.pool.query('UPDATE saga_leases SET leased_until = now(), available_at = now()')
    expect(await ids(5)).toEqual(['s3', 's4', 's0', 's1', 's2'])
  })

  it('are not those with recent events of activities', async () => {
    await addSaga({ id: 'a' })
    await database.pool.query(
      `INSERT INTO saga_activities (tenant, id, saga_id, status, first_seen_at, last_event_at)
       VALUES ('default', 'act', 'a', 'Executing', now(), now())`,
    )
    expect(await claimedIds()).toEqual([])
    expect(await claimedIds({ idleSecondsMin: 0 })).toEqual(['a'])
  })

  it('are not those that an operator has resolved, until something happens again', async () => {
    await addSaga({ id: 'a' })
    await database.pool.query('UPDATE sagas SET resolved_at = last_event_at')
    expect(await claimedIds()).toEqual([])
    await database.pool.query("UPDATE sagas SET last_event_at = last_event_at + interval '1 s'")
    expect(await claimedIds()).toEqual(['a'])
  })

  it('include failed ones only on request, even those that had ended before', async () => {
    await addSaga({ id: 'failed', status: 'Error' })
    await addSaga({ id: 'ended, failed', status: 'Error', ended: true })
    expect(await claimedIds()).toEqual([])
    expect(await claimedIds({ withErrors: true })).toEqual(['ended, failed', 'failed'])
  })
})

describe('a lease', () => {
  it('that is not ended is granted again after its end and a pause, as the next attempt', async () => {
    await addSaga({ id: 'a' })
    const first = await claimOne()
    await pass(61)
    expect(await claimedIds()).toEqual([])
    await pass(15)
    const second = await claimOne()
    expect(second).toMatchObject({ sagaId: 'a', attempt: 2 })
    expect(second.token).not.toBe(first.token)
    expect(await extendLease(database, { token: first.token, tenants: null }, 60)).toBeNull()
    expect(
      await resolveLease(database, { token: first.token, tenants: null }, { resolution: 'done', note: null }),
    ).toBeNull()
  })

  it('is extended from the current time, until it has ended', async () => {
    await addSaga({ id: 'a' })
    const { token, leasedUntil } = await claimOne()
    const until = await extendLease(database, { token, tenants: null }, 600)
    expect(until?.getTime()).toBeGreaterThan(leasedUntil.getTime())
    await pass(590)
    expect(await claimedIds()).toEqual([])
    await pass(20)
    expect(await extendLease(database, { token, tenants: null }, 600)).toBeNull()
  })

  it('that is done is granted again only after new events', async () => {
    await addSaga({ id: 'a' })
    const { token } = await claimOne()
    expect(
      await resolveLease(database, { token, tenants: null }, { resolution: 'done', note: 'by hand' }),
    ).toBeInstanceOf(Date)
    await pass(100_000)
    await database.pool.query("UPDATE saga_leases SET resolved_at = now() - interval '400 seconds'")
    expect(await claimedIds()).toEqual([])
    await database.pool.query("UPDATE sagas SET last_event_at = now() - interval '300 seconds'")
    expect(await claim()).toMatchObject([{ sagaId: 'a', attempt: 1 }])
  })

  it('that failed is granted again after a pause that doubles, up to an hour, minus up to a half', async () => {
    await addSaga({ id: 'a' })
    for (const fullSeconds of [15, 30, 60, 120, 240, 480, 960, 1920, 3600, 3600]) {
      const { token } = await claimOne()
      const before = Date.now()
      const at = await resolveLease(database, { token, tenants: null }, { resolution: 'failed', note: null })
      const pauseSeconds = ((at?.getTime() ?? 0) - before) / 1000
      expect(pauseSeconds).toBeGreaterThan(fullSeconds * 0.5 - 1)
      expect(pauseSeconds).toBeLessThan(fullSeconds + 5)
      expect(await claimedIds()).toEqual([])
      await pass(fullSeconds + 1)
    }
  })

  it('that is returned is available at once, and does not count', async () => {
    await addSaga({ id: 'a' })
    const { token } = await claimOne()
    await resolveLease(database, { token, tenants: null }, { resolution: 'returned', note: null })
    expect(await claim()).toMatchObject([{ sagaId: 'a', attempt: 1 }])
  })

  it('that is given back keeps the note of the attempt before, until another one is over', async () => {
    await addSaga({ id: 'a' })
    const noteAfter = async (end: (token: string) => Promise<unknown>) => {
      await end((await claimOne()).token)
      await pass(3600)
      return (await database.pool.query('SELECT resolution, note, attempts FROM saga_leases')).rows
    }
    const resolution = (name: 'failed' | 'returned', note: string | null) => (token: string) =>
      resolveLease(database, { token, tenants: null }, { resolution: name, note })
    expect(await noteAfter(resolution('failed', 'the bank is closed'))).toEqual([
      { resolution: 'failed', note: 'the bank is closed', attempts: 1 },
    ])
    const kept = { resolution: 'returned', note: 'the bank is closed', attempts: 1 }
    expect(await noteAfter((token) => returnLeases(database, [token]))).toEqual([kept])
    expect(await noteAfter(resolution('returned', null))).toEqual([kept])
    expect(await noteAfter(resolution('returned', 'stopping'))).toEqual([{ ...kept, note: 'stopping' }])
    expect(await noteAfter(resolution('failed', null))).toEqual([
      { resolution: 'failed', note: null, attempts: 2 },
    ])
  })

  it('can be ended twice with the same answer, but not with another', async () => {
    await addSaga({ id: 'a' })
    const { token } = await claimOne()
    const at = await resolveLease(database, { token, tenants: null }, { resolution: 'failed', note: 'x' })
    expect(
      await resolveLease(database, { token, tenants: null }, { resolution: 'failed', note: 'x' }),
    ).toEqual(at)
    expect(
      await resolveLease(database, { token, tenants: null }, { resolution: 'done', note: 'x' }),
    ).toBeNull()
  })
})

interface Step {
  kind: 'claim' | 'end'
  take: number
  resolution: 'done' | 'failed' | 'returned'
}
const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom('claim', 'claim', 'end'),
  take: fc.integer({ min: 1, max: 7 }),
  resolution: fc.constantFrom('done', 'failed', 'returned'),
})

/** A claimer that knows the leases of all claimers. */
class Claimer {
  readonly #held: Set<string>
  readonly #leases: { sagaId: string; token: string }[] = []

  constructor(held: Set<string>) {
    this.#held = held
  }

  async run(steps: Step[]): Promise<void> {
    for (const { kind, take, resolution } of steps) {
      await (kind === 'claim' ? this.#claim(take) : this.#end(resolution))
    }
  }

  async #claim(take: number): Promise<void> {
    const leases = await claim({ take })
    expect(leases.length).toBeLessThanOrEqual(take)
    for (const lease of leases) {
      expect(this.#held).not.toContain(lease.sagaId)
      this.#held.add(lease.sagaId)
      this.#leases.push(lease)
    }
  }

  async #end(resolution: Step['resolution']): Promise<void> {
    const lease = this.#leases.pop()
    if (!lease) return
    this.#held.delete(lease.sagaId)
    expect(
      await resolveLease(database, { token: lease.token, tenants: null }, { resolution, note: null }),
    ).not.toBeNull()
  }
}

describe('parallel claimers', () => {
  it('never hold one saga twice, and together receive all of them', async () => {
    const programs = fc.array(fc.array(step, { minLength: 1, maxLength: 8 }), { minLength: 2, maxLength: 8 })
    await fc.assert(
      fc.asyncProperty(programs, fc.integer({ min: 1, max: 20 }), async (steps, count) => {
        await database.pool.query('TRUNCATE sagas, saga_activities, saga_leases')
        await Promise.all(Array.from({ length: count }, (_, n) => addSaga({ id: `s${n}` })))
        const held = new Set<string>()
        await Promise.all(steps.map((own) => new Claimer(held).run(own)))
        await database.pool.query(
          "UPDATE saga_leases SET available_at = now() - interval '1 s', resolution = NULL, leased_until = now()",
        )
        expect(await claim({ take: 100 })).toHaveLength(count)
      }),
      { numRuns: 40 },
    )
  })

  it('receive different sagas when their leases expire', async () => {
    await Promise.all(Array.from({ length: 30 }, (_, n) => addSaga({ id: `s${n}` })))
    for (let round = 1; round <= 5; round += 1) {
      const answers = await Promise.all(Array.from({ length: 8 }, () => claim({ take: 9 })))
      const ids = answers.flat().map(({ sagaId }) => sagaId)
      expect(new Set(ids).size).toBe(ids.length)
      for (const lease of answers.flat()) expect(lease.attempt).toBeLessThanOrEqual(round)
      await pass(60 + 3600)
    }
  })
})
