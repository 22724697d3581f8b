import { type DomainError, excerpt, invalidParameters } from '@switchyard/domain'
import { nestedTooDeeply } from './bounds.js'

/** Parameters by name. The object has no prototype, so that no name has a special meaning. */
export type Fields = Record<string, unknown>

type Pair = readonly [name: string, value: string]

/** Most parts of a name; `a[b][c]` has three. */
const partsMax = 10

/**
 * Builds parameters from the pairs of a form or a query in the order sent, as Rack does:
 *
 * - `a[b]=1` is an object, `a[]=1&a[]=2` a list, and so is `a[0]=1&a[1]=2`;
 * - `a[][x]=1&a[][y]=2&a[][x]=3` is a list of objects: a name that the current object has begins the next
 *   object;
 * - `a[]=` alone is the empty list, which clients have no other way to send.
 *
 * Unlike in Rack, `a=1&a=2` is a list, too.
 *
 * @throws DomainError invalid-parameters when a name is used both for a text and for an object, or nested too
 *   deeply
 */
export function readForm(pairs: Iterable<Pair>): Fields {
  const fields = newFields()
  for (const [name, value] of pairs) {
    const [first = '', ...path] = partsOf(name)
    add(fields, first, path, value)
  }
  for (const [name, value] of Object.entries(fields)) fields[name] = withWholeLists(value)
  return fields
}

const newFields = (): Fields => Object.create(null)

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** `actions[][file_path]` → `['actions', '', 'file_path']`. */
function partsOf(name: string): string[] {
  const open = name.indexOf('[')
  if (open <= 0 || !name.endsWith(']')) return [name]
  const parts = name.slice(open + 1, -1).split('][', partsMax)
  if (parts.length === partsMax) throw nestedTooDeeply()
  return [name.slice(0, open), ...parts]
}

function add(fields: Fields, name: string, path: readonly string[], value: string): void {
  const [next, ...rest] = path
  const present = fields[name]
  if (next === undefined && present === undefined) fields[name] = value
  else if (next === undefined || next === '') {
    const list = listOf(name, present)
    fields[name] = list
    addToList(list, name, rest, value)
  } else {
    const object = present ?? newFields()
    if (!isFields(object)) throw usedTwice(name)
    fields[name] = object
    add(object, next, rest, value)
  }
}

function addToList(list: unknown[], name: string, path: readonly string[], value: string): void {
  const [next, ...rest] = path
  if (next === undefined) list.push(value)
  else if (next === '') throw usedTwice(name)
  else {
    const last = list.at(-1)
    const object = isFields(last) && !has(last, path) ? last : newFields()
    if (object !== last) list.push(object)
    add(object, next, rest, value)
  }
}

/** Returns the list under a name. A text that came first becomes its first item. */
function listOf(name: string, present: unknown): unknown[] {
  if (present === undefined) return []
  if (Array.isArray(present)) return present
  if (typeof present === 'string') return [present]
  throw usedTwice(name)
}

const usedTwice = (name: string): DomainError => invalidParameters([`${excerpt(name)} is invalid`])

/**
 * Returns whether an object has a value at this path. A path through a list can always take one more value.
 */
function has(fields: Fields, path: readonly string[]): boolean {
  if (path.includes('')) return false
  let value: unknown = fields
  for (const part of path) {
    if (!isFields(value) || value[part] === undefined) return false
    value = value[part]
  }
  return true
}

/**
 * Turns each object whose names are all whole numbers into the list of its values, in the order of the
 * numbers. Turns each list with only an empty text into the empty list.
 */
function withWholeLists(value: unknown): unknown {
  if (Array.isArray(value)) return value.length === 1 && value[0] === '' ? [] : value.map(withWholeLists)
  if (!isFields(value)) return value
  for (const [name, item] of Object.entries(value)) value[name] = withWholeLists(item)
  const names = Object.keys(value)
  if (!names.every((name) => /^\d{1,9}$/.test(name))) return value
  return names.sort((one, other) => Number(one) - Number(other)).map((name) => value[name])
}
