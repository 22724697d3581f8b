import { exporterMetrics, rules } from '../../../deploy/test/support/alert-rules.js'
import { dashboards } from '../../../deploy/test/support/dashboards.js'
import { metricOf, selectorsOf } from '../../../deploy/test/support/selectors.js'

/** A metric of Prometheus, and the labels by which an expression selects it. */
export interface NamedFigure {
  name: string
  labels: string[]
}

export interface Expression {
  /** Location of the expression. */
  of: string
  figures: NamedFigure[]
  /** The labels by which it groups or joins. */
  grouping: string[]
}

const listOf = (text: string) => text.split(',').map((label) => label.trim())

/** Every expression of the rules and the dashboards. */
export const expressions: Expression[] = [
  ...rules.map(({ alert, record, expr }) => expressionOf(`${alert ?? record}`, expr)),
  ...dashboards.flatMap(([name, { panels, templating }]) => [
    ...panels.flatMap(({ title, targets }) =>
      targets.map(({ expr }) => expressionOf(`${name}: ${title}`, expr)),
    ),
    ...templating.list.flatMap(({ query }) => variableOf(name, query)),
  ]),
]

/** Metrics that the rules record. */
const recorded = new Set(rules.flatMap(({ record }) => record ?? []))

function expressionOf(of: string, text: string): Expression {
  const groups = text.matchAll(/\b(?:by|without|on|ignoring)\s*\(([^)]*)\)/g)
  const figures = selectorsOf(text).map((selector) => ({
    name: metricOf(selector),
    labels: [...selector.matchAll(/(\w+)\s*[=!][=~]?\s*"/g)].map(([, label = '']) => label),
  }))
  return { of, figures, grouping: [...groups].flatMap(([, labels = '']) => listOf(labels)) }
}

function variableOf(of: string, query: string): Expression[] {
  const [, name, label] = /^label_values\((\w+), (\w+)\)$/.exec(query) ?? []
  return name && label ? [{ of, figures: [{ name, labels: [label] }], grouping: [] }] : []
}

/**
 * Metrics under the names that Prometheus stores, with their labels. A metric of an event that has not
 * happened yet has no labels.
 */
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

/**
 * Returns the metrics and labels of an expression that no service serves. Metrics of the rules and of
 * exporters are ignored.
 */
export function problemsOf({ of, figures, grouping }: Expression, served: Served): string[] {
  if (figures.length === 0) return [`${of}: no figure`]
  const sought = figures.filter(({ name }) => !recorded.has(name))
  const unknown = sought
    .filter(({ name }) => !served.has(name) && !exporterMetrics.has(name))
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
