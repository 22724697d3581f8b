import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { rules } from '../../../deploy/test/support/alert-rules.js'

/** A figure of Prometheus, and the labels that an expression selects it by. */
export interface NamedFigure {
  name: string
  labels: string[]
}

export interface Expression {
  /** Where it stands. */
  of: string
  figures: NamedFigure[]
  /** The labels by which it groups or joins. */
  grouping: string[]
}

interface Panel {
  title: string
  targets: { expr: string }[]
}

interface Dashboard {
  panels: Panel[]
  templating: { list: { query: string }[] }
}

const folder = resolve(import.meta.dirname, '../../../deploy/grafana')

const dashboards = readdirSync(folder)
  .filter((name) => name.endsWith('.json'))
  .map((name) => ({
    name,
    dashboard: JSON.parse(readFileSync(join(folder, name), 'utf8')) as Dashboard,
  }))

const words = new Set(['and', 'or', 'unless', 'bool', 'offset', 'sum', 'count', 'min', 'max', 'topk'])
const listOf = (text: string) => text.split(',').map((label) => label.trim())

/** Every expression of the rules and the dashboards. */
export const expressions: Expression[] = [
  ...rules.map(({ alert, record, expr }) => expressionOf(`${alert ?? record}`, expr)),
  ...dashboards.flatMap(({ name, dashboard }) => [
    ...dashboard.panels.flatMap(({ title, targets }) =>
      targets.map(({ expr }) => expressionOf(`${name}: ${title}`, expr)),
    ),
    ...dashboard.templating.list.flatMap(({ query }) => variableOf(name, query)),
  ]),
]

/** Figures that the rules make out of others. */
const recorded = new Set(rules.flatMap(({ record }) => record ?? []))

function expressionOf(of: string, text: string): Expression {
  const grouping: string[] = []
  const figures: NamedFigure[] = []
  const bare = text
    .replaceAll(/\b(?:by|without|on|ignoring)\s*\(([^)]*)\)/g, (_all, labels: string) => {
      grouping.push(...listOf(labels))
      return ' '
    })
    .replaceAll(/([a-z_][\w:]*)\{([^}]*)\}/gi, (_all, name: string, matchers: string) => {
      figures.push({ name, labels: [...matchers.matchAll(/(\w+)\s*[=!]~?/g)].map(([, label = '']) => label) })
      return ' '
    })
    .replaceAll(/\[[^\]]*\]/g, ' ')
  for (const [name] of bare.matchAll(/(?<![\w.])[a-z_][\w:]*\b(?!\s*\()/gi)) {
    if (!words.has(name)) figures.push({ name, labels: [] })
  }
  return { of, figures, grouping }
}

function variableOf(of: string, query: string): Expression[] {
  const [, name, label] = /^label_values\((\w+), (\w+)\)$/.exec(query) ?? []
  return name && label ? [{ of, figures: [{ name, labels: [label] }], grouping: [] }] : []
}

/** Figures under the names that Prometheus keeps, with their labels; a figure of what has not happened yet has no labels. */
export type Served = Map<string, Set<string>>

export async function readFigures(ports: readonly number[]): Promise<Served> {
  const texts = await Promise.all(
    ports.map(async (port) => (await fetch(`http://127.0.0.1:${port}/metrics`)).text()),
  )
  const text = texts.join('\n')
  const served: Served = new Map()
  for (const [, name = '', type = ''] of text.matchAll(/^# TYPE (\S+) (\S+)$/gm)) {
    for (const ending of endings[type] ?? ['']) served.set(name + ending, new Set())
  }
  for (const [, name = '', labels = ''] of text.matchAll(/^(\w+)\{(.*)\} \S+$/gm)) {
    for (const [, label = ''] of labels.matchAll(/(?:^|,)(\w+)="/g)) served.get(name)?.add(label)
  }
  return served
}

const endings: Record<string, string[]> = {
  histogram: ['_bucket', '_sum', '_count'],
  summary: ['', '_sum', '_count'],
}

/** Prometheus' own label of a target. */
const ofTarget = 'instance'

/** What an expression names that no service serves. Figures that the rules record are not looked for. */
export function problemsOf({ of, figures, grouping }: Expression, served: Served): string[] {
  if (figures.length === 0) return [`${of}: no figure`]
  const sought = figures.filter(({ name }) => !recorded.has(name))
  const unknown = sought
    .filter(({ name }) => !served.has(name))
    .map(({ name }) => `${of}: ${name} is not served`)
  const lacks = (name: string, label: string) => {
    const known = served.get(name)
    return known !== undefined && known.size > 0 && !known.has(label)
  }
  const badLabels = sought.flatMap(({ name, labels }) =>
    labels.filter((label) => lacks(name, label)).map((label) => `${of}: ${name} has no label ${label}`),
  )
  const badGroups = grouping
    .filter((label) => label !== ofTarget && sought.length > 0)
    .filter((label) => sought.every(({ name }) => lacks(name, label)))
    .map((label) => `${of}: nothing has the label ${label}`)
  return [...unknown, ...badLabels, ...badGroups]
}
