import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Fields, type Operation, reportAll } from '../grpc-client.js'
import { createTokens, startHarness } from '../harness.js'

let harness: Awaited<ReturnType<typeof startHarness>>
let token: string
beforeAll(async () => {
  harness = await startHarness()
  token = (await createTokens(harness.database)).reader
})
afterAll(() => harness.close())

/** Two activities, each with at least one event that names its saga and one that does not. */
const history: [Operation, Fields][] = [
  ['SagaStarted', { sagaId: 's', serviceName: 'booking' }],
  ['ActivityExecuteStarted', { sagaId: 's', activityId: 'a1' }],
  ['ActivityEnded', { sagaId: '', activityId: 'a1' }],
  ['ActivityCompensated', { activityId: 'a1' }],
  ['ActivityExecuteStarted', { sagaId: 's', activityId: 'a2' }],
  ['ActivityExecuteAborted', { activityId: 'a2', errors: 'no stock' }],
  ['ActivityRetried', { activityId: 'a2', retries: 1, status: 'Executing' }],
  ['SagaEnded', { sagaId: 's', serviceName: 'booking' }],
]

interface LoggedEvent {
  seq: number
  operation: string
  activity_id: string | null
}

async function readLog(tenant: string, perPage: number): Promise<LoggedEvent[]> {
  const events: LoggedEvent[] = []
  for (let after: string | null = '0'; after !== null; ) {
    const query = new URLSearchParams({ tenant, per_page: String(perPage), after })
    const response = await fetch(`${harness.baseUrl}/api/v4/sagas/s/events?${query}`, {
      headers: { 'PRIVATE-TOKEN': token },
    })
    expect(response.status).toBe(200)
    events.push(...((await response.json()) as LoggedEvent[]))
    after = response.headers.get('X-Next-Cursor')
  }
  return events
}

const shown = (operation: string, activityId: string | null | undefined) =>
  `${operation} ${activityId ?? '-'}`

async function expectCompleteLog(tenant: string, events: [Operation, Fields][], perPage: number) {
  const answers = await reportAll(harness.grpc, events, { metadata: { 'x-tenant': tenant } })
  const stored = events.filter((_event, index) => answers[index] !== 'duplicate')
  const log = await readLog(tenant, perPage)
  expect(log.map(({ operation, activity_id }) => shown(operation, activity_id))).toEqual(
    stored.map(([operation, { activityId }]) => shown(operation, activityId)),
  )
  expect(log.map(({ seq }) => seq)).toEqual(log.map(({ seq }) => seq).toSorted((one, next) => one - next))
}

it('the log of a saga contains the events that arrived before their activity named its saga', async () => {
  const events: [Operation, Fields][] = [
    ['ActivityEnded', { sagaId: 's', activityId: 'a1' }],
    ['ActivityExecuteAborted', { activityId: 'a2', errors: 'no stock' }],
    ['SagaEnded', { sagaId: 's', serviceName: 'booking' }],
    ['ActivityExecuteStarted', { sagaId: 's', activityId: 'a2' }],
    ['ActivityCompensated', { activityId: 'a1' }],
    ['ActivityExecuteStarted', { sagaId: 's', activityId: 'a1' }],
    ['SagaStarted', { sagaId: 's', serviceName: 'booking' }],
  ]
  await expectCompleteLog('seven', events, 20)
})

it('the log of a saga is complete and in order, in whatever order its events arrive', async () => {
  let run = 0
  await fc.assert(
    fc.asyncProperty(
      fc.shuffledSubarray(history, { minLength: history.length }),
      fc.integer({ min: 1, max: 10 }),
      async (events, perPage) => {
        run += 1
        await expectCompleteLog(`permutation-${run}`, events, perPage)
      },
    ),
    { numRuns: 20 },
  )
})
