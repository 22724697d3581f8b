import { type DomainError, unprocessable } from '@switchyard/domain'

// GitLab's language of changelog templates: `{% if %}`, `{% each %}`, `{% else %}`, `{% end %}` and `{{
// variable }}`. A template reads only its data; loops descend into the data, and depth and output are
// bounded.

type Value = string | number | boolean | readonly Value[] | { readonly [name: string]: Value }

/** The path of a value from the current value; an empty path is the current value itself. */
type Selector = readonly string[]

type Block =
  | { kind: 'if'; selector: Selector; body: Node[]; otherwise: Node[] }
  | { kind: 'each'; selector: Selector; body: Node[] }

type Node = Block | { kind: 'text'; text: string } | { kind: 'variable'; selector: Selector }

export type Template = readonly Node[]

const depthMax = 20
const outputCharsMax = 4 * 1024 * 1024
/** Most parts of the template that are written, counting repetitions. */
const writtenMax = 500_000

const token =
  /\{%\s*(?:(?<block>if|each)[ \t]+(?<value>[\w.]+)|(?<keyword>else|end))\s*%\}\n?|\{\{\s*(?<variable>[\w.]+)\s*\}\}|\\\n|\{[{%]|[^\\{]+|[\\{]/g

/** Matches a step of a selector: a name, or a position in a list. */
const step = /^(?:[A-Za-z_]+|\d{1,10})$/

const malformed = (reason: string): DomainError => unprocessable(`Failed to parse the template: ${reason}`)

/** @throws DomainError unprocessable for a malformed template */
export function parseTemplate(text: string): Template {
  const root: Node[] = []
  const open: { block: Block | null; nodes: Node[] }[] = [{ block: null, nodes: root }]
  for (const { 0: found, groups = {} } of text.matchAll(token)) {
    const { block: kind, value = '', keyword, variable } = groups
    const current = open.at(-1) as (typeof open)[number]
    if (kind !== undefined) {
      if (open.length > depthMax) throw malformed(`it is nested more than ${depthMax} levels deep`)
      const block = blockOf(kind, selectorOf(value))
      current.nodes.push(block)
      open.push({ block, nodes: block.body })
    } else if (keyword === 'else') current.nodes = otherwiseOf(current)
    else if (keyword === 'end') {
      if (!current.block) throw malformed('an end has no beginning')
      open.pop()
    } else current.nodes.push(leafOf(found, variable))
  }
  if (open.length > 1) throw malformed('an end is missing')
  return root
}

const blockOf = (kind: string, selector: Selector): Block =>
  kind === 'if' ? { kind, selector, body: [], otherwise: [] } : { kind: 'each', selector, body: [] }

function otherwiseOf({ block, nodes }: { block: Block | null; nodes: Node[] }): Node[] {
  if (block?.kind !== 'if' || nodes === block.otherwise) throw malformed('an else has no if')
  return block.otherwise
}

function leafOf(found: string, variable: string | undefined): Node {
  if (variable !== undefined) return { kind: 'variable', selector: selectorOf(variable) }
  if (found === '{{' || found === '{%') throw malformed(`${found} begins nothing that is known`)
  // A line break after a backslash is left out.
  return { kind: 'text', text: found === '\\\n' ? '' : found }
}

function selectorOf(text: string): Selector {
  const steps = text.split('.')
  if (!steps.every((each) => step.test(each))) throw malformed(`${text} names nothing`)
  return steps.filter((each) => each !== 'it')
}

/** @throws DomainError unprocessable for a text that is too large */
export function renderTemplate(template: Template, data: Value): string {
  const parts: string[] = []
  let [chars, written] = [0, 0]
  function count(text: string): void {
    written += 1
    chars += text.length
    if (written > writtenMax || chars > outputCharsMax) throw unprocessable('The changelog is too large')
  }
  function write(node: Node, scope: Value): void {
    if (node.kind === 'if' || node.kind === 'each') {
      count('')
      for (const [body, inner] of bodiesOf(node, scope)) for (const each of body) write(each, inner)
      return
    }
    const text = node.kind === 'text' ? node.text : writtenValue(find(scope, node.selector))
    count(text)
    parts.push(text)
  }
  for (const node of template) write(node, data)
  return parts.join('')
}

/** Returns the bodies that a block writes, each with its current value. */
function bodiesOf(block: Block, scope: Value): [Node[], Value][] {
  const value = find(scope, block.selector)
  if (block.kind === 'if') return [[isTrue(value) ? block.body : block.otherwise, scope]]
  return isList(value) ? value.map((each) => [block.body, each]) : []
}

const writtenValue = (value: Value | undefined) =>
  typeof value === 'object' || value === undefined ? '' : String(value)

const isList = (value: Value | undefined): value is readonly Value[] => Array.isArray(value)

function find(scope: Value, selector: Selector): Value | undefined {
  let value: Value | undefined = scope
  for (const name of selector) {
    if (typeof value !== 'object' || !Object.prototype.propertyIsEnumerable.call(value, name))
      return undefined
    value = (value as Record<string, Value>)[name]
  }
  return value
}

/** Returns the truth value; empty texts, lists and objects are false. */
function isTrue(value: Value | undefined): boolean {
  if (typeof value !== 'object') return value !== undefined && value !== false && value !== ''
  if (isList(value)) return value.length > 0
  for (const _name in value) return true
  return false
}
