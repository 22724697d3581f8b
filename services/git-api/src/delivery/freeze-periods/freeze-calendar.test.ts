import { expect, test } from 'vitest'
import { createFreezeCalendar, freezePeriodProblems } from './freeze-calendar.js'

const weekend = { freezeStart: '0 23 * * 5', freezeEnd: '0 8 * * 1', cronTimezone: 'Europe/Berlin' }
const endAt = async (period: typeof weekend | (typeof weekend)[], at: string) =>
  (await createFreezeCalendar().findLast([period].flat(), new Date(at)))?.endsAt.toISOString() ?? null

test.each([
  ['2026-11-27T21:59:59.999Z', null],
  ['2026-11-27T22:00:00.000Z', '2026-11-30T07:00:00.000Z'],
  ['2026-11-29T12:00:00.000Z', '2026-11-30T07:00:00.000Z'],
  ['2026-11-30T07:00:00.000Z', '2026-11-30T07:00:00.000Z'],
  ['2026-11-30T07:00:00.001Z', null],
  // In summer time, the same hours come an hour earlier in UTC.
  ['2026-07-03T21:00:00.000Z', '2026-07-06T06:00:00.000Z'],
  ['2026-07-03T20:59:59.000Z', null],
])('at %s the weekend in Berlin is frozen until %s', async (at, end) => {
  expect(await endAt(weekend, at)).toBe(end)
})

test('a freeze period works across the end of a year and a change of the clock', async () => {
  const december = { freezeStart: '0 0 20 12 *', freezeEnd: '0 0 7 1 *', cronTimezone: 'UTC' }
  expect(await endAt(december, '2027-01-01T00:00:00Z')).toBe('2027-01-07T00:00:00.000Z')
  const night = { freezeStart: '0 1 * * *', freezeEnd: '30 2 * * *', cronTimezone: 'Europe/Berlin' }
  // 02:30 does not exist on that night.
  expect(await endAt(night, '2026-03-29T00:30:00Z')).toBe('2026-03-29T01:30:00.000Z')
})

test('among several current freeze periods, the latest end counts', async () => {
  const longer = { ...weekend, freezeEnd: '0 12 * * 1' }
  expect(await endAt([weekend, longer, weekend], '2026-11-28T00:00:00Z')).toBe('2026-11-30T11:00:00.000Z')
})

test('an answer is cached for exactly as long as it is valid, in both directions of time', async () => {
  const calendar = createFreezeCalendar()
  const ends: (string | undefined)[] = []
  for (const at of ['2026-11-26', '2026-11-28', '2026-11-26', '2026-12-01', '2026-12-05', '2026-11-28']) {
    ends.push((await calendar.findLast([weekend], new Date(at)))?.endsAt.toISOString())
  }
  const [first, second] = ['2026-11-30T07:00:00.000Z', '2026-12-07T07:00:00.000Z']
  expect(ends).toEqual([undefined, first, undefined, undefined, second, first])
})

const noon = new Date('2026-11-27T12:00:00Z')

test.each([
  ['the weekend', weekend, [['2026-11-27T22:00:00.000Z', '2026-11-30T07:00:00.000Z']]],
  [
    'each night',
    { freezeStart: '0 22 * * *', freezeEnd: '0 6 * * *', cronTimezone: 'UTC' },
    [24, 25, 26, 27, 28].map((day) => [`2026-11-${day}T22:00:00.000Z`, `2026-11-${day + 1}T06:00:00.000Z`]),
  ],
  [
    'each hour until the next one',
    { freezeStart: '0 * * * *', freezeEnd: '0 * * * *', cronTimezone: 'UTC' },
    [['2026-11-25T00:00:00.000Z', '2026-11-29T00:00:00.000Z']],
  ],
])('%s is listed from the day before yesterday to tomorrow', async (_name, period, times) => {
  const listed = await createFreezeCalendar().listTimes(period, noon, new AbortController().signal)
  expect(listed.map(({ startsAt, endsAt }) => [startsAt.toISOString(), endsAt.toISOString()])).toEqual(times)
})

test('the evaluation of a period ends when its caller goes away', async () => {
  const everyMinute = { freezeStart: '* * * * *', freezeEnd: '* * * * *', cronTimezone: 'UTC' }
  const caller = new AbortController()
  const listed = createFreezeCalendar().listTimes(everyMinute, noon, caller.signal)
  caller.abort(new Error('gone'))
  await expect(listed).rejects.toThrow('gone')
})

test.each([
  '0 0 31 2 *',
  '0 0 31 2,4,6 *',
  '* * * *',
  '0 0 0 * * *',
  '@daily',
  '',
  '0 24 * * *',
  '0 0 * * 5#3',
  '0 0 L * *',
  'H H * * *',
  '*/0 * * * *',
  '0 0 1 ene *',
  `${'0,'.repeat(200)}0 0 * * *`,
])('%j is no time at which a freeze period could start or end', (expression) => {
  const wrong = ['syntax is invalid']
  expect(freezePeriodProblems({ ...weekend, freezeStart: expression })).toEqual({ freeze_start: wrong })
  expect(freezePeriodProblems({ ...weekend, freezeEnd: expression })).toEqual({ freeze_end: wrong })
})

test.each(['', 'Berlin', '+01:00', 'Europe/Nowhere', 'x'.repeat(1000)])(
  '%j is no time zone',
  (cronTimezone) => {
    expect(freezePeriodProblems({ ...weekend, cronTimezone })).toEqual({
      cron_timezone: ['syntax is invalid'],
    })
  },
)

test.each([
  '0 0 29 2 *',
  '0 0 31 1-3 *',
  '59 23 31 12 *',
  '30 2 31 3,10 *',
  '0 0 30 2 sun',
  '0-59/7 */5 * jan-MAR *',
])('%s is evaluated, also where no leap year comes for eight years', async (expression) => {
  for (const cronTimezone of ['UTC', 'America/New_York', 'Pacific/Apia']) {
    const period = { freezeStart: expression, freezeEnd: expression, cronTimezone }
    expect(freezePeriodProblems(period)).toEqual({})
    // No leap year for eight years around 2100.
    for (const at of ['2096-03-01T00:00:00Z', '2103-12-31T23:59:59Z', '2026-03-29T01:30:00Z']) {
      const last = await createFreezeCalendar().findLast([period], new Date(at))
      expect(last?.endsAt).toBeInstanceOf(Date)
    }
  }
})
