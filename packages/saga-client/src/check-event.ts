import type { encoders } from './events.js'

type Check = [holds: (value: unknown) => boolean, description: string]

const isText = (value: unknown) => typeof value === 'string'
const text: Check = [isText, 'a text']
const wholeNumber: Check = [(value) => Number.isInteger(value), 'a whole number']
const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Checks by field, because a field has the same meaning in every operation. */
const checks: Record<string, Check> = {
  sagaId: text,
  activityId: text,
  serviceName: text,
  status: text,
  traceParent: text,
  parentSagaId: text,
  order: wholeNumber,
  timeOutSeconds: wholeNumber,
  retries: wholeNumber,
  attempt: wholeNumber,
  time: [(value) => value instanceof Date && !Number.isNaN(value.getTime()), 'a valid Date'],
  phase: [(value) => value === 'execute' || value === 'compensate', "'execute' or 'compensate'"],
  tags: [isObject, 'an object'],
}

/** Returns the fields that an event must have. */
function requiredFields(operation: keyof typeof encoders): readonly string[] {
  if (operation === 'activityRetried') return ['sagaId', 'activityId', 'phase', 'retries']
  return operation.startsWith('activity') ? ['sagaId', 'activityId'] : ['sagaId']
}

/**
 * Checks for mistakes of callers without a type checker, such as an id that is undefined. The rules of the
 * reporter are not checked, except those about tags, because the reporter drops invalid tags and accepts the
 * event.
 *
 * @throws TypeError with the name of the field
 */
export function checkEvent(operation: keyof typeof encoders, event: unknown): void {
  if (!isObject(event)) throw new TypeError('the event is not an object')
  const required = requiredFields(operation)
  for (const [name, [holds, description]] of Object.entries(checks)) {
    const value: unknown = Reflect.get(event, name)
    const isMissing = value === undefined || value === null
    if (isMissing && required.includes(name)) throw new TypeError(`${name} is missing`)
    if (!isMissing && !holds(value)) throw new TypeError(`${name} is not ${description}`)
  }
  const tags: unknown = Reflect.get(event, 'tags')
  if (isObject(tags)) checkTags(tags)
}

/**
 * Checks a tenant.
 *
 * @throws TypeError
 */
export function checkTenant(tenant: unknown): void {
  if (tenant !== undefined && !isText(tenant)) throw new TypeError('tenant is not a text')
}

const tagsMax = 16
const tagKey = /^[^=\p{Cc}]{1,64}$/u
const tagValue = /^[^\p{Cc}]{0,192}$/u

/**
 * Checks tags.
 *
 * @throws TypeError
 */
function checkTags(tags: object): void {
  const entries = Object.entries(tags)
  if (entries.length > tagsMax) throw new TypeError(`tags has more than ${tagsMax} entries`)
  for (const [key, value] of entries) {
    if (!tagKey.test(key))
      throw new TypeError('tags has a name that is not 1 to 64 characters without = and control characters')
    if (!['string', 'number', 'boolean', 'bigint'].includes(typeof value))
      throw new TypeError(`tags.${key} is not a text`)
    if (!tagValue.test(`${value}`))
      throw new TypeError(`tags.${key} is not up to 192 characters without control characters`)
  }
}
