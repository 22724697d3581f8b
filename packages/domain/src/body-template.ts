import Mustache from 'mustache'
import { tooLongText } from './texts.js'

/** Longest template, in characters. */
const bodyTemplateLengthMax = 4096
/**
 * A body is at most this much longer than its template, in characters. Values beyond the limit become null,
 * and lists end.
 */
const addedLengthMax = 1024 * 1024
/** Deepest nesting of sections. */
const depthMax = 8
/**
 * Most parts of a template and entries of lists that are written. Lists end there. A long path counts as
 * several parts, because each of its names is looked up.
 */
const partsMax = 50_000
/** Length and parts that each of the bodies that share the limits has at least. */
const ownLength = 64 * 1024
const ownParts = 5_000
/** Characters of a path for which it counts as one more part. */
const charactersOfPart = 50

/**
 * A part of a template as the parser of mustache returns it: kind, text or name, begin, end, and inner parts.
 */
type Part = [kind: string, text: string, begin: number, end: number, within?: Part[]]

/** A path into the event: `project.name`, `commits.0.id`, or `.` for the entry of a list. */
const path = /^[\w.-]+$/

/** The form in which a body is written. */
export interface BodyForm {
  /** True: a body of JSON. False: a text. */
  json: boolean
  /**
   * Escapes a text or an address of the event, so that the receiver does not read it as markup. Unset: values
   * are not escaped.
   */
  escape?: (text: string, kind: 'text' | 'url') => string
  /** Unset: 1 MiB. */
  addedLengthMax?: number
  /** Number of bodies that share the limits of length and parts. Unset: 1. */
  sharedBy?: number
}

/** Returns the problem of a template; null when it makes JSON from every event. */
export function bodyTemplateProblem(template: string): string | null {
  const parts = checkedParts(template, bodyTemplateLengthMax)
  if (parts === 'unparsable') return 'must be JSON, with an end of each {{path}} and each {{#section}}'
  if (typeof parts === 'string') return parts
  // The three samples leave each section out, write it once, and write it twice.
  if ([0, 1, 2].every((times) => isJson(sample(parts, template, times)))) return null
  return 'must be JSON once every {{path}} is replaced by a value, whether its sections are written or not'
}

/**
 * Returns the problem of a template of a text; null when it makes a text from all values.
 *
 * @param names the names that the template may use
 */
export function textTemplateProblem(
  template: string,
  { lengthMax, names }: { lengthMax: number; names: readonly string[] },
): string | null {
  const parts = checkedParts(template, lengthMax)
  if (parts === 'unparsable') return 'must have an end of each {{name}} and each {{#section}}'
  if (typeof parts === 'string') return parts
  const isUnknown = ({ part: [kind, name] }: { part: Part }) =>
    (kind === 'name' || kind === '#' || kind === '^') && name !== '.' && !names.includes(name)
  const hasUnknown = partsOf(parts).some(isUnknown)
  return hasUnknown ? `has an unknown name: there are {{${names.join('}}, {{')}}}` : null
}

/** Returns the parts of a template, or its problem. */
function checkedParts(template: string, lengthMax: number): Part[] | string {
  if (template.length > lengthMax) return tooLongText(lengthMax)
  let parts: Part[]
  try {
    parts = parse(template)
  } catch {
    return 'unparsable'
  }
  const all = partsOf(parts)
  if (all.some(({ part: [kind] }) => kind === '&'))
    return 'must not have {{{path}}} or {{&path}}: values are always escaped'
  if (all.some(({ part: [kind] }) => kind === '>'))
    return 'must not have {{>name}}: there are no other templates'
  if (all.some(({ part: [kind] }) => kind === '=')) return 'must not change the delimiters'
  return all.some(({ depth }) => depth > depthMax)
    ? `must not have more than ${depthMax} sections within each other`
    : parts
}

const partsOf = (parts: readonly Part[], depth = 0): { part: Part; depth: number }[] =>
  parts.flatMap((part) => [
    { part, depth },
    ...(isSection(part) ? [{ part, depth: depth + 1 }, ...partsOf(part[4] ?? [], depth + 1)] : []),
  ])

const isSection = ([kind]: Part) => kind === '#' || kind === '^'

function sample(parts: readonly Part[], template: string, times: number): string {
  return parts
    .map((part) => {
      const [kind, text, begin, end, within = []] = part
      if (kind === 'text') return text
      if (kind === 'name') return path.test(text) ? '0' : template.slice(begin, end)
      const count = kind === '#' ? times : Number(times === 0)
      return sample(within, template, times).repeat(isSection(part) ? count : 0)
    })
    .join('')
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/**
 * Parses with a new parser each time, because a parser keeps every template that it has seen.
 *
 * @throws Error for an open section
 */
const parse = (template: string): Part[] => new Mustache.Writer().parse(template) as Part[]

/**
 * Returns the body of a webhook, made by a template of mustache.
 * - `{{path}}` becomes the value of the event at that path. Within a text it is written as text, elsewhere as
 *   JSON. A missing value is null, and within a text nothing.
 * - `{{#path}}…{{/path}}` is written for each entry of a list. For another value it is written once, unless
 *   the value is false, null, 0 or an empty text.
 * - `{{^path}}…{{/path}}` is written when `{{#path}}` is not.
 *
 * A template reaches only own fields of the event. Size and work are bounded for every template.
 *
 * @param template one without a {@link bodyTemplateProblem}
 * @param event JSON
 */
export function renderBody(template: string, event: string, form: BodyForm = { json: true }): string {
  const body = new Body(template, form)
  body.write(partsOrText(template), [JSON.parse(event)])
  return body.text()
}

/**
 * Returns the parts of a stored template. A template with an unclosed section, which the parser refuses,
 * counts as plain text.
 */
function partsOrText(template: string): Part[] {
  try {
    return parse(template)
  } catch {
    return [['text', template, 0, template.length]]
  }
}

type Mode = 'json' | 'text' | 'url'

class Body {
  readonly #pieces: string[] = []
  readonly #written: Record<Mode, Map<unknown, string>> = { json: new Map(), text: new Map(), url: new Map() }
  #inText = false
  #room: number
  #parts: number

  constructor(
    private readonly template: string,
    private readonly form: BodyForm,
  ) {
    const { addedLengthMax: lengthMax = addedLengthMax, sharedBy = 1 } = form
    this.#room = template.length + Math.max(Math.floor(lengthMax / sharedBy), Math.min(lengthMax, ownLength))
    this.#parts = Math.max(Math.floor(partsMax / sharedBy), ownParts)
  }

  text(): string {
    return this.#pieces.join('')
  }

  /**
   * Writes parts.
   *
   * @param stack the event, then the values of the enclosing sections, the innermost last
   */
  write(parts: readonly Part[], stack: readonly unknown[]): void {
    for (const [kind, text, begin, end, within = []] of parts) {
      this.#parts -= kind === 'text' ? 1 : 1 + Math.floor(text.length / charactersOfPart)
      if (kind === 'text') this.#add(text)
      else if (kind === '#') this.#writeSection(within, find(text, stack), stack)
      else if (kind === '^' && isEmpty(find(text, stack))) this.write(within, stack)
      else if (kind === 'name' && path.test(text)) this.#writeValue(find(text, stack), text)
      else if (kind === 'name') this.#add(this.template.slice(begin, end))
    }
  }

  #writeSection(within: readonly Part[], value: unknown, stack: readonly unknown[]): void {
    if (isEmpty(value)) return
    for (const entry of Array.isArray(value) ? value : [value]) {
      if (this.#parts <= 0 || this.#room <= 0) return
      this.#parts -= 1
      this.write(within, [...stack, entry])
    }
  }

  #writeValue(value: unknown, name: string): void {
    const inText = this.#inText || !this.form.json
    const mode = inText ? (/(^|[._])url$/.test(name) ? 'url' : 'text') : 'json'
    const written = this.#known(mode, value)
    const kept = written.length > this.#room ? this.#known(mode, undefined) : written
    this.#pieces.push(kept)
    this.#room -= kept.length
  }

  #add(piece: string): void {
    this.#pieces.push(piece)
    this.#room -= piece.length
    this.#inText = endsInText(piece, this.#inText)
  }

  /**
   * Returns the written form of a value, which is made only once however often the template names the value.
   */
  #known(mode: Mode, value: unknown): string {
    const written = this.#written[mode].get(value) ?? this.#write(mode, value)
    this.#written[mode].set(value, written)
    return written
  }

  #write(mode: Mode, value: unknown): string {
    if (mode === 'json') return JSON.stringify(value ?? null)
    const text = typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value)
    const escaped = this.form.escape?.(text, mode) ?? text
    return this.form.json ? JSON.stringify(escaped).slice(1, -1) : escaped
  }
}

const isEmpty = (value: unknown) => !value || (Array.isArray(value) && value.length === 0)

/** Returns whether the JSON is inside a text at the end of this piece. */
function endsInText(piece: string, begins: boolean): boolean {
  const quotes = piece.replace(/\\./g, '').split('"').length - 1
  return quotes % 2 === 1 ? !begins : begins
}

/**
 * Looks for the first name of a path in the innermost section first, then in the sections around it. The
 * other names of the path are fields below that value.
 */
function find(names: string, stack: readonly unknown[]): unknown {
  if (names === '.') return stack.at(-1)
  const [first = '', ...further] = names.split('.')
  const holder = stack.findLast((value) => ownField(value, first) !== undefined)
  return further.reduce(ownField, ownField(holder, first))
}

const ownField = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined
