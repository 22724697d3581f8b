import { type FieldProblems, refuseProblems } from '../errors.js'
import { tooLongText } from '../texts.js'
import { type BroadcastTheme, type BroadcastType, broadcastDefaults } from './appearance.js'

/** The fields of a broadcast message, which every user sees for a period. */
export interface BroadcastFields {
  /** Markdown, stored as sent. */
  message: string
  startsAt: Date
  endsAt: Date
  /** Background colour: `#` and 3 or 6 hex digits, or blank. */
  color: string
  /** Text colour in the same form. */
  font: string
  broadcastType: BroadcastType
  dismissable: boolean
  /** Paths of the pages that show the message, with `*` for any text; null: all pages. */
  targetPath: string | null
  theme: BroadcastTheme
}

/** The fields of a request: an absent key was not sent, null clears a field. */
export type BroadcastInput = { [Field in keyof BroadcastFields]?: BroadcastFields[Field] | null }

const defaultDurationMs = 3_600_000
const targetPathLengthMax = 255

/** Returns whether a message is shown at this instant. The start and the end of its period are included. */
export function isActive({ startsAt, endsAt }: Pick<BroadcastFields, 'startsAt' | 'endsAt'>, now: Date) {
  return startsAt.getTime() <= now.getTime() && now.getTime() <= endsAt.getTime()
}

/**
 * Returns the fields of a new message. Absent fields get defaults. As in GitLab, the default end is one hour
 * from now, even when the start is given.
 *
 * @throws DomainError invalid, with the problems of every field
 */
export function newBroadcastMessage(input: BroadcastInput, now: Date): BroadcastFields {
  const fields = {
    message: input.message ?? '',
    startsAt: input.startsAt ?? now,
    endsAt: input.endsAt ?? new Date(now.getTime() + defaultDurationMs),
    color: input.color ?? broadcastDefaults.color,
    font: input.font ?? broadcastDefaults.font,
    broadcastType: input.broadcastType ?? broadcastDefaults.broadcastType,
    dismissable: input.dismissable ?? broadcastDefaults.dismissable,
    targetPath: filledOrNull(input.targetPath),
    theme: input.theme ?? broadcastDefaults.theme,
  }
  checkInput(fields)
  return fields
}

/**
 * Returns the fields that an update changes. A cleared field gets its default.
 *
 * @throws DomainError invalid, with the problems of every field
 */
export function changedBroadcastFields(input: BroadcastInput): Partial<BroadcastFields> {
  checkInput(input)
  const { message, startsAt, endsAt } = input
  const given = {
    message,
    startsAt,
    endsAt,
    color: clearedTo(broadcastDefaults.color, input.color),
    font: clearedTo(broadcastDefaults.font, input.font),
    broadcastType: clearedTo(broadcastDefaults.broadcastType, input.broadcastType),
    dismissable: clearedTo(broadcastDefaults.dismissable, input.dismissable),
    targetPath: input.targetPath === undefined ? undefined : filledOrNull(input.targetPath),
    theme: clearedTo(broadcastDefaults.theme, input.theme),
  }
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
}

const clearedTo = <Value>(standard: Value, value: Value | null | undefined) =>
  value === null ? standard : value

const filledOrNull = (text: string | null | undefined) => (text?.trim() ? text.trim() : null)

const colorCode = /^#(?:[0-9a-f]{3}|[0-9a-f]{6})$/i

/**
 * Checks the given fields.
 *
 * @throws DomainError invalid, with the problems by the names of the API
 */
function checkInput({ message, startsAt, endsAt, color, font, targetPath }: BroadcastInput): void {
  const problems: FieldProblems = {}
  if (message !== undefined && (message ?? '').trim() === '') problems.message = ["can't be blank"]
  if (startsAt === null) problems.starts_at = ["can't be blank"]
  if (endsAt === null) problems.ends_at = ["can't be blank"]
  if (!isColor(color)) problems.color = ['must be a valid color code']
  if (!isColor(font)) problems.font = ['must be a valid color code']
  if ((targetPath?.trim().length ?? 0) > targetPathLengthMax) {
    problems.target_path = [tooLongText(targetPathLengthMax)]
  }
  refuseProblems(problems)
}

const isColor = (value: string | null | undefined) =>
  value === undefined || value === null || value.trim() === '' || colorCode.test(value)
