import Mustache from 'mustache'
import { tooLongText } from './texts.js'

/** Longest template, in characters. */
const bodyTemplateLengthMax = 4096
/**
 * A body is at most this much longer than its template, in characters; values beyond become null, and lists
 * end.
 */
const addedLengthMax = 1024 * 1024
/** Sections within sections. */
const depthMax = 8
/** Parts of a template that are written, and entries of lists that are gone through. Lists end there. */
const partsMax = 50_000

/**
 * Parts of a template, as the parser of mustache gives them: kind, text or name, begin, end, and parts
 * within.
 */
type Part = [kind: string, text: string, begin: number, end: number, within?: Part[]]

/** A path into the event: `project.name`, `commits.0.id`, or `.` for the entry of a list. */
const path = /^[\w.-]+$/

/** How a body is written. */
export interface BodyForm {
  /** JSON, or text as it stands. */
  json: boolean
  /**
   * Changes a text of the event, or an address, so that the receiver does not read it as markup. Unset: it
   * stays.
   */
  escape?: (text: string, kind: 'text' | 'url') => string
  /** Unset: a MiB. */
  addedLengthMax?: number
}

/** What is wrong with a template; null when it makes JSON of every event. */
export function bodyTemplateProblem(template: string): string | null {
  const parts = checkedParts(template, bodyTemplateLengthMax)
  if (parts === 'unparsable') return 'must be JSON, with an end of each {{path}} and each {{#section}}'
  if (typeof parts === 'string') return parts
  // With each section left out, written once, and written twice.
  if ([0, 1, 2].every((times) => isJson(sample(parts, template, times)))) return null
  return 'must be JSON once every {{path}} is replaced by a value, whether its sections are written or not'
}

/**
 * What is wrong with a template of a text; null when it makes a text of every value.
 *
 * @param names of the values that there are
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

/** The parts of a template, or what is wrong with it. */
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
 * The parser keeps every template that it has seen, so it is a new one each time.
 *
 * @throws Error for an open section
 */
const parse = (template: string): Part[] => new Mustache.Writer().parse(template) as Part[]

/**
 * The body of a webhook by a template of mustache: each `{{path}}` becomes the value that the event has
 * there. Within a text it is written as text, elsewhere as JSON; what the event lacks is null, and within a
 * text nothing. `{{#path}}…{{/path}}` is written for each entry of a list, and once for another value but
 * false, null, 0 and an empty text; `{{^path}}…{{/path}}` otherwise.
 *
 * Only the own fields of the event can be reached, and size and work are bounded, whatever the template is.
 *
 * @param template one without a {@link bodyTemplateProblem}
 * @param event JSON
 */
export function renderBody(template: string, event: string, form: BodyForm = { json: true }): string {
  const body = new Body(template, form)
  body.write(partsOrText(template), [JSON.parse(event)])
  return body.text()
}

/** A stored template that the parser refuses, because a section in it has no end, is sent as a text. */
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
  #parts = partsMax

  constructor(
    private readonly template: string,
    private readonly form: BodyForm,
  ) {
    this.#room = template.length + (form.addedLengthMax ?? addedLengthMax)
  }

  text(): string {
    return this.#pieces.join('')
  }

  /** @param stack the event, and the values of the sections around, the innermost last */
  write(parts: readonly Part[], stack: readonly unknown[]): void {
    for (const [kind, text, begin, end, within = []] of parts) {
      this.#parts -= 1
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

  /** Each value is written once, however often the template names it. */
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

/** Whether JSON is within a text at the end of this piece of it. */
function endsInText(piece: string, begins: boolean): boolean {
  const quotes = piece.replace(/\\./g, '').split('"').length - 1
  return quotes % 2 === 1 ? !begins : begins
}

/** The first name of a path is looked for from the innermost section outwards, the others below it. */
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
