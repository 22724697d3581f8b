/** A value of a JSON body in its original text. */
export class JsonText {
  constructor(readonly text: string) {}
}

/**
 * The members of the items of a list in a JSON body that are passed on without being interpreted. They keep
 * their original text, because parsing would round long numbers and change the order of names. A string
 * arrives as a string.
 */
export interface KeptTexts {
  list: string
  members: readonly string[]
}

/**
 * Replaces the values of such members by their original text. Takes time in proportion to the length of the
 * body.
 *
 * @param json valid JSON
 * @param body its value
 */
export function keepTexts(json: string, body: unknown, { list, members }: KeptTexts): void {
  const items: unknown = isObject(body) && Object.hasOwn(body, list) ? body[list] : undefined
  if (!Array.isArray(items)) return
  const isKept = (item: object, name: string) =>
    Object.hasOwn(item, name) && typeof Reflect.get(item, name) !== 'string'
  if (!items.some((item) => isObject(item) && members.some((name) => isKept(item, name)))) return
  const spans = [...partsOf(json, membersOf(json, 0).get(list)?.start ?? 0)]
  for (const [index, item] of items.entries()) {
    const kept = isObject(item) ? members.filter((name) => isKept(item, name)) : []
    if (kept.length === 0) continue
    const written = membersOf(json, spans[index]?.start ?? 0)
    for (const name of kept) {
      const { start, end } = written.get(name) ?? { start: 0, end: 0 }
      item[name] = new JsonText(json.slice(start, end).trim())
    }
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

interface Span {
  start: number
  end: number
}

/**
 * Returns the positions of the values of an object's members. Of two members with one name the last counts,
 * as in JSON.parse.
 */
function membersOf(json: string, from: number): Map<string, Span> {
  const members = new Map<string, Span>()
  for (const { start, end } of partsOf(json, from)) {
    const name = json.indexOf('"', start)
    // An object without members has one part, which has no name.
    if (name < 0 || name > end) continue
    const nameEnd = endOfString(json, name)
    members.set(JSON.parse(json.slice(name, nameEnd + 1)), { start: json.indexOf(':', nameEnd) + 1, end })
  }
  return members
}

/** Yields the positions of the members or items of the first object or list from a position on. */
function* partsOf(json: string, from: number): Generator<Span> {
  let nesting = 0
  let start = from
  for (let at = from; at < json.length; at += 1) {
    switch (json[at]) {
      case '"':
        at = endOfString(json, at)
        break
      case '[':
      case '{':
        nesting += 1
        if (nesting === 1) start = at + 1
        break
      case ',':
        if (nesting > 1) break
        yield { start, end: at }
        start = at + 1
        break
      case ']':
      case '}':
        nesting -= 1
        if (nesting > 0) break
        yield { start, end: at }
        return
    }
  }
}

/**
 * Finds the end of a string.
 *
 * @returns the position of the closing quotation mark; the length of the text when there is none
 */
export function endOfString(json: string, start: number): number {
  for (let end = json.indexOf('"', start + 1); end >= 0; end = json.indexOf('"', end + 1)) {
    let backslashes = 0
    while (json[end - 1 - backslashes] === '\\') backslashes += 1
    if (backslashes % 2 === 0) return end
  }
  return json.length
}
