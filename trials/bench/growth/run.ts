import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { commits } from './commits.js'
import { drawCurves, type Line, shown } from './curves.js'
import type { Figure, Subject } from './measure.js'
import { projects } from './projects.js'
import { references } from './references.js'
import { sagas } from './sagas.js'
import { streams } from './streams.js'

const subjects: Record<string, Subject> = { commits, references, projects, sagas, streams }
/** Largest ratio between the costs of the largest and the smallest size for a line to count as flat. */
const flatMax = 2

/** `SUBJECT…` measures only these; `--sizes 100,1000` overrides the sizes. The charts go into this folder. */
const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { sizes: { type: 'string' } },
})

for (const name of positionals.length > 0 ? positionals : Object.keys(subjects)) {
  const subject = subjects[name]
  if (!subject) throw new Error(`${name} is not one of ${Object.keys(subjects).join(', ')}`)
  await measure(name, subject)
}

async function measure(name: string, subject: Subject): Promise<void> {
  const found: Found = new Map()
  await subject.run(options.sizes?.split(',').map(Number) ?? subject.sizes, (size, figures) => {
    console.log(`${shown(size)} ${subject.unit}`)
    for (const figure of figures) {
      const p50 = figure.p50Ms === undefined ? '' : `, p50 ${shown(figure.p50Ms)} ms`
      console.log(`  ${figure.name}: ${shown(figure.value)}${p50}`)
      found.set(figure.name, [...(found.get(figure.name) ?? []), { size, figure }])
    }
    // Draws after each size, so that an interrupted run leaves a chart.
    draw(name, subject, found)
  })
  printTable(subject, found)
}

type Found = Map<string, { size: number; figure: Figure }[]>

function draw(name: string, { unit, scale = 'CPU milliseconds of a request' }: Subject, found: Found): void {
  const lines = Array.from(
    found,
    ([line, points]): Line => ({
      name: line,
      points: points.map(({ size, figure: { value } }) => ({ size, value })),
    }),
  )
  const picture = drawCurves({ title: `The cost by the number of ${unit}`, unit, scale, lines })
  writeFileSync(join(import.meta.dirname, `${name}.svg`), picture)
}

/** Prints Markdown: the value and, in brackets, p50 in milliseconds. */
function printTable({ unit }: Subject, found: Found): void {
  const sizes = [...found.values()][0]?.map(({ size }) => shown(size)) ?? []
  const row = (cells: string[]) => console.log(`| ${cells.join(' | ')} |`)
  row([unit, ...sizes, 'largest ÷ smallest'])
  row(['---', ...sizes.map(() => '---'), '---'])
  for (const [line, points] of found) {
    const cells = points.map(({ figure: { value, p50Ms } }) =>
      p50Ms === undefined ? shown(value) : `${shown(value)} (${shown(p50Ms)})`,
    )
    const ratio = (points.at(-1)?.figure.value ?? 0) / (points[0]?.figure.value ?? 1)
    row([line, ...cells, `${shown(ratio)}${ratio > flatMax ? ', not flat' : ''}`])
  }
}
