import { createDatabase, type Database } from '@switchyard/db'
import { isAnyWriterActive, readLastPosition, readLogWriters } from '@switchyard/saga-store'
import { createLogger } from '@switchyard/service-kit/observability'
import { createTestDatabase, type TestDatabase, waitFor } from '@switchyard/testing'
import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { SagaFeed } from '../../src/live/feed.js'
import { follow } from '../../src/live/follow.js'
import { type LogEntry, readLogPage, readLogTail } from '../../src/live/store.js'
import { appendEntries, appendEntry } from './log-writer.js'

let testDatabase: TestDatabase
let database: Database
let feed: SagaFeed
const followers: AbortController[] = []

beforeAll(async () => {
  testDatabase = await createTestDatabase()
  database = createDatabase({ url: testDatabase.url, poolSizeMax: 12, applicationName: 'test' })
})
afterAll(async () => {
  await database?.close()
  await testDatabase?.close()
})
beforeEach(() => {
  feed = new SagaFeed(
    {
      readTail: (wanted) => readLogTail(database, wanted),
      readLastPosition: () => readLastPosition(database),
      readWriters: () => readLogWriters(database),
      isAnyActive: (writers) => isAnyWriterActive(database, writers),
    },
    createLogger('test', 'silent'),
  )
})
afterEach(() => {
  for (const follower of followers.splice(0)) follower.abort()
})

/** Collects the entries that a follower receives. */
async function startFollower(after: number | null = null, tenant = 'default') {
  const ending = new AbortController()
  followers.push(ending)
  const entries: LogEntry[] = []
  const batches = follow({
    feed,
    readPage: (wanted, range) => readLogPage(database, wanted, range),
    readLastPosition: () => readLastPosition(database),
    filter: { tenant },
    after,
    signal: ending.signal,
    heartbeatMs: 60_000,
  })
  const first = await batches.next()
  const done = (async () => {
    for await (const batch of batches) entries.push(...batch.entries)
  })()
  return {
    first: first.value,
    positions: () => entries.map(({ sequence }) => sequence),
    entries,
    async stop() {
      ending.abort()
      await done
    },
  }
}

const ascending = (numbers: number[]) => [...numbers].sort((a, b) => a - b)

it('entries that become visible out of order are delivered in order, and none twice', async () => {
  const follower = await startFollower()
  const slow = await database.pool.connect()
  await slow.query('BEGIN')
  const first = await appendEntry(slow)
  const second = await appendEntry(database.pool)
  feed.wake()
  const third = await appendEntry(database.pool)
  await new Promise((resolve) => setTimeout(resolve, 300))
  expect(follower.positions()).toEqual([])
  await slow.query('COMMIT')
  slow.release()
  await waitFor(() => follower.positions().length === 3)
  expect(follower.positions()).toEqual([first, second, third])
})

it('rolled-back entries are skipped without waiting for other open transactions', async () => {
  const follower = await startFollower()
  const unrelated = await database.pool.connect()
  await unrelated.query('BEGIN')
  await unrelated.query("INSERT INTO saga_tombstones (tenant, kind, id) VALUES ('t', 'saga', 'x')")
  const undone = await database.pool.connect()
  await undone.query('BEGIN')
  await appendEntry(undone)
  const after = await appendEntry(database.pool)
  await undone.query('ROLLBACK')
  undone.release()
  await waitFor(() => follower.positions().length === 1)
  expect(follower.positions()).toEqual([after])
  await unrelated.query('ROLLBACK')
  unrelated.release()
})

it("an entry is found although its writer's clock was days behind", async () => {
  const follower = await startFollower()
  const before = await appendEntry(database.pool)
  feed.wake()
  await waitFor(() => follower.positions().length === 1)
  const late = await appendEntry(database.pool, { receivedAt: new Date(Date.now() - 3 * 86_400_000) })
  const next = await appendEntry(database.pool)
  feed.wake()
  await waitFor(() => follower.positions().length === 3)
  expect(follower.positions()).toEqual([before, late, next])
})

it('entries of transactions that were open at the start are delivered', async () => {
  const slow = await database.pool.connect()
  await slow.query('BEGIN')
  const position = await appendEntry(slow)
  const starting = startFollower(position - 1)
  await new Promise((resolve) => setTimeout(resolve, 200))
  await slow.query('COMMIT')
  slow.release()
  const follower = await starting
  await waitFor(() => follower.positions().length === 1)
  expect(follower.positions()).toEqual([position])
})

it('a position beyond the end of the log is reported', async () => {
  const last = await appendEntry(database.pool)
  const follower = await startFollower(last + 1000)
  expect(follower.first).toMatchObject({ reset: true, sequence: last })
})

it('a lagging follower reads the log, and reaches its end without loss or repetition', async () => {
  const begin = await readLastPosition(database)
  const ids = Array.from({ length: 3000 }, (_, n) => `s${n}`)
  const old = await appendEntries(database, ids)
  const follower = await startFollower(begin)
  const recent: number[] = []
  for (let n = 0; n < 50; n += 1) recent.push(...(await appendEntries(database, [`t${n}`, `u${n}`])))
  await waitFor(() => follower.positions().length === old.length + recent.length)
  expect(follower.positions()).toEqual(ascending([...old, ...recent]))
})

it('the feed continues after the database was unreachable', async () => {
  const follower = await startFollower()
  await database.pool.query(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'test' AND pid <> pg_backend_pid() AND datname = current_database()",
  )
  const position = await appendEntry(database.pool)
  await waitFor(() => follower.positions().length === 1)
  expect(follower.positions()).toEqual([position])
})

const connectWriter = () => database.pool.connect()

/** The next action of one of several writers. */
interface Step {
  writer: number
  action: 'append' | 'commit' | 'undo' | 'wake'
}
const step: fc.Arbitrary<Step> = fc.record({
  writer: fc.integer({ min: 0, max: 3 }),
  action: fc.constantFrom('append', 'append', 'append', 'commit', 'undo', 'wake'),
})

/** Writers with a transaction each, which commit and roll back in any order. */
class Writers {
  readonly committed: number[] = []
  readonly #open: { client: Awaited<ReturnType<typeof connectWriter>>; positions: number[] }[] = []

  async run({ writer, action }: Step): Promise<void> {
    if (action === 'wake') feed.wake()
    else if (action === 'append') (await this.#transaction(writer)).positions.push(await this.#append(writer))
    else await this.#end(writer, action)
  }

  async endAll(): Promise<void> {
    for (const writer of Object.keys(this.#open)) await this.#end(Number(writer), 'commit')
  }

  async #append(writer: number): Promise<number> {
    return appendEntry((await this.#transaction(writer)).client, { sagaId: `w${writer}` })
  }

  async #transaction(writer: number) {
    const open = this.#open[writer]
    if (open) return open
    const client = await connectWriter()
    await client.query('BEGIN')
    const begun = { client, positions: [] }
    this.#open[writer] = begun
    return begun
  }

  async #end(writer: number, action: 'commit' | 'undo'): Promise<void> {
    const open = this.#open[writer]
    if (!open) return
    delete this.#open[writer]
    await open.client.query(action === 'commit' ? 'COMMIT' : 'ROLLBACK')
    open.client.release()
    if (action === 'commit') this.committed.push(...open.positions)
  }
}

it('each committed entry is delivered exactly once and in order, however writers overlap', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 30 }), async (steps) => {
      const follower = await startFollower()
      const other = await startFollower(follower.first?.sequence ?? null)
      const writers = new Writers()
      for (const next of steps) await writers.run(next)
      await writers.endAll()
      const last = await appendEntry(database.pool)
      for (const { positions } of [follower, other]) {
        await waitFor(() => positions().at(-1) === last)
        expect(positions()).toEqual([...ascending(writers.committed), last])
      }
      await follower.stop()
      await other.stop()
    }),
    { numRuns: 25 },
  )
})
