import { ClaimResponse, type LeasedSaga } from '@switchyard/contracts/saga-recovery'
import { expect, it } from 'vitest'
import type { ActivityPage } from '../read/read.js'
import { writeActivityCursor } from '../shapes/paging.js'
import { ClaimAnswer } from './claim-answer.js'
import type { ClaimedSaga } from './recover.js'

const head = { head: Buffer.alloc(16_384), size: 99_999, sha256: 'f'.repeat(64), storedSize: 99_999 }
const text = { text: 'e'.repeat(16_384), size: 99_999 }
const now = new Date()
const activity = {
  id: 'a'.repeat(128),
  status: 'CompensateAborted',
  anomalies: [],
  executeAttempts: 1,
  compensateAttempts: 1,
  retryReports: 0,
  finalAbort: true,
  firstSeenAt: now,
  lastEventAt: now,
  startedAt: now,
  endedAt: now,
  compensatingAt: now,
  compensateAbortedAt: now,
  executeErrors: text,
  compensateErrors: text,
  parameter: head,
  result: head,
} as unknown as ActivityPage['activities'][number]

/** Returns a claimed saga with pages of 500 activities. */
function claimed(pages: number): ClaimedSaga {
  async function* read(): AsyncGenerator<ActivityPage> {
    for (let page = 1; page <= pages; page += 1) {
      const activities = Array.from({ length: 500 }, (_, n) => ({ ...activity, order: page * 500 + n }))
      const last = { order: page * 500 + 499, firstSeenAt: now, id: activity.id }
      yield { activities, next: page < pages ? last : null }
    }
  }
  const grant = { sagaId: 's', token: '', leasedUntil: now, attempt: 1 }
  return { grant, saga: null, pages: read() }
}
const bytesOf = (sagas: LeasedSaga[]) => ClaimResponse.encode({ sagas }).finish().length
const clientBytesMax = 4 * 1024 * 1024

it('a saga that does not fit beside those before it is left out', async () => {
  const answer = new ClaimAnswer()
  expect([await answer.add(claimed(1)), await answer.add(claimed(1)), await answer.add(claimed(4))]).toEqual([
    true,
    true,
    false,
  ])
  expect(answer.sagas.map(({ activities }) => activities.length)).toEqual([500, 500])
  expect(bytesOf(answer.sagas)).toBeLessThan(clientBytesMax)
})

it('a saga that is larger than a message has its first activities, and the start of the others', async () => {
  const answer = new ClaimAnswer()
  expect(await answer.add(claimed(40))).toBe(true)
  const [leased] = answer.sagas
  expect(leased?.nextPageToken).toBe(
    writeActivityCursor({
      order: leased?.activities.at(-1)?.order ?? null,
      firstSeenAt: now,
      id: activity.id,
    }),
  )
  expect(bytesOf(answer.sagas)).toBeLessThan(clientBytesMax)
  expect(bytesOf(answer.sagas)).toBeGreaterThan(clientBytesMax * 0.8)
})
