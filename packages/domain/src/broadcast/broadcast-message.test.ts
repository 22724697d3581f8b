import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isRefusal } from '../errors.js'
import { broadcastThemes, broadcastTypes } from './appearance.js'
import {
  type BroadcastFields,
  type BroadcastInput,
  changedBroadcastFields,
  isActive,
  newBroadcastMessage,
} from './broadcast-message.js'

const now = new Date('2026-05-04T10:00:00.123Z')

function problemsOf(act: () => unknown) {
  try {
    act()
  } catch (error) {
    if (isRefusal(error, 'invalid')) return error.detail
    throw error
  }
  throw new Error('was not refused')
}

describe('a new broadcast message', () => {
  it('starts now and ends in an hour, white on red, when only its text is given', () => {
    expect(newBroadcastMessage({ message: 'Deploy' }, now)).toEqual({
      message: 'Deploy',
      startsAt: now,
      endsAt: new Date('2026-05-04T11:00:00.123Z'),
      color: '#E75E40',
      font: '#FFFFFF',
      broadcastType: 'banner',
      dismissable: false,
      targetPath: null,
      theme: 'indigo',
    })
  })

  it('ends an hour from now also when it starts much later', () => {
    const fields = newBroadcastMessage({ message: 'Later', startsAt: new Date('2030-01-01') }, now)
    expect(fields.endsAt).toEqual(new Date('2026-05-04T11:00:00.123Z'))
    expect(isActive(fields, now)).toBe(false)
  })

  it('is refused with the problems of all fields at once', () => {
    const targetPath = '/x'.repeat(128)
    const problems = problemsOf(() =>
      newBroadcastMessage({ message: ' ', color: 'red', font: '#12345', targetPath }, now),
    )
    expect(problems).toEqual({
      target_path: ['is too long (maximum is 255 characters)'],
      message: ["can't be blank"],
      color: ['must be a valid color code'],
      font: ['must be a valid color code'],
    })
  })

  it('keeps colours as sent: three or six digits, any case, or blank', () => {
    for (const color of ['#000', '#aBcDeF', '#FFFFFF', '']) {
      expect(newBroadcastMessage({ message: 'x', color }, now).color).toBe(color)
    }
    for (const color of ['red', '#12', '#1234', '#ggg', '#fff\n', 'x#fff', '#123456789']) {
      expect(problemsOf(() => newBroadcastMessage({ message: 'x', color }, now))).toEqual({
        color: ['must be a valid color code'],
      })
    }
  })
})

describe('a change of a broadcast message', () => {
  it('changes nothing when no field is given', () => {
    expect(changedBroadcastFields({})).toEqual({})
  })

  it('cannot clear its text or its period', () => {
    expect(problemsOf(() => changedBroadcastFields({ message: null, startsAt: null, endsAt: null }))).toEqual(
      {
        message: ["can't be blank"],
        starts_at: ["can't be blank"],
        ends_at: ["can't be blank"],
      },
    )
  })

  it('resets a cleared field to its default', () => {
    const cleared = { color: null, theme: null, broadcastType: null, dismissable: null, targetPath: ' ' }
    expect(changedBroadcastFields(cleared)).toEqual({
      color: '#E75E40',
      theme: 'indigo',
      broadcastType: 'banner',
      dismissable: false,
      targetPath: null,
    })
  })

  it('holds exactly the fields that were given', () => {
    const color = fc.constantFrom('#000', '#AbC', '#123456')
    const given: fc.Arbitrary<BroadcastInput> = fc.record(
      {
        message: fc.string({ minLength: 1 }).filter((text) => text.trim() !== ''),
        startsAt: fc.date({ noInvalidDate: true }),
        endsAt: fc.date({ noInvalidDate: true }),
        color,
        font: color,
        broadcastType: fc.constantFrom(...broadcastTypes),
        dismissable: fc.boolean(),
        targetPath: fc.constantFrom(null, '/a', '*/b/*'),
        theme: fc.constantFrom(...broadcastThemes),
      },
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(given, (input) => {
        expect(changedBroadcastFields(input)).toEqual(input)
      }),
    )
  })
})

describe('the period of a broadcast message', () => {
  const period = fc.record({
    startsAt: fc.date({ noInvalidDate: true }),
    endsAt: fc.date({ noInvalidDate: true }),
  })

  it('includes its first and its last instant, and nothing outside', () => {
    fc.assert(
      fc.property(period, ({ startsAt, endsAt }: Pick<BroadcastFields, 'startsAt' | 'endsAt'>) => {
        const ordered = startsAt <= endsAt
        expect(isActive({ startsAt, endsAt }, startsAt)).toBe(ordered)
        expect(isActive({ startsAt, endsAt }, endsAt)).toBe(ordered)
        expect(isActive({ startsAt, endsAt }, new Date(startsAt.getTime() - 1))).toBe(false)
        expect(isActive({ startsAt, endsAt }, new Date(endsAt.getTime() + 1))).toBe(false)
      }),
    )
  })
})
