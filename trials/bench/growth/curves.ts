/** A line of a chart. Sizes and values are above zero. */
export interface Line {
  name: string
  points: { size: number; value: number }[]
}

export interface Picture {
  title: string
  /** The unit of the sizes. */
  unit: string
  /** The unit of the values. */
  scale: string
  lines: readonly Line[]
}

const width = 880
const height = 440
const plot = { left: 64, right: 560, top: 56, bottom: 388 }
const labelGap = 18
/** Colours of each line, on a light and on a dark background. */
const colours = [
  ['#0b5fa5', '#6cb6ff'],
  ['#b3400b', '#ff9d5c'],
  ['#1a7f37', '#5fd07a'],
  ['#8a3ab9', '#d2a8ff'],
  ['#9a6700', '#e3b341'],
  ['#b3145f', '#ff80b5'],
  ['#0a7a80', '#56d4dd'],
  ['#57606a', '#a9b4c0'],
]

/** Draws an SVG with logarithmic axes, which is readable on light and dark pages, and for screen readers. */
export function drawCurves({ title, unit, scale, lines }: Picture): string {
  const x = axis(
    lines.flatMap(({ points }) => points.map(({ size }) => size)),
    [plot.left, plot.right],
  )
  const y = axis(
    lines.flatMap(({ points }) => points.map(({ value }) => value)),
    [plot.bottom, plot.top],
  )
  const ends = placesOfLabels(lines.map(({ points }) => y.at(points.at(-1)?.value ?? 1)))
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="title desc">`,
    `<title id="title">${escaped(title)}</title>`,
    `<desc id="desc">${escaped(inWords(lines, unit, scale))}</desc>`,
    `<style>${styles()}</style>`,
    `<rect class="ground" width="${width}" height="${height}"/>`,
    text(plot.left, 24, title, 'heading'),
    text(plot.left, 43, scale),
    text((plot.left + plot.right) / 2, height - 14, unit, 'middle'),
    ...x.decades.map((size) => gridLine(x.at(size), plot.top, x.at(size), plot.bottom)),
    ...x.decades.map((size) => text(x.at(size), plot.bottom + 20, shown(size), 'middle')),
    ...y.decades.map((value) => gridLine(plot.left, y.at(value), plot.right, y.at(value))),
    ...y.decades.map((value) => text(plot.left - 8, y.at(value) + 4, shown(value), 'end')),
    ...lines.map((line, index) => drawLine(line, index, ends[index] ?? 0, { x, y })),
    '</svg>\n',
  ].join('\n')
}

interface Axis {
  at: (value: number) => number
  /** The powers of ten on the axis. */
  decades: number[]
}

function axis(values: readonly number[], [from, to]: [number, number]): Axis {
  const first = Math.floor(Math.log10(Math.min(...values)) + 1e-9)
  const last = Math.max(first + 1, Math.ceil(Math.log10(Math.max(...values)) - 1e-9))
  const at = (value: number) => from + ((Math.log10(value) - first) / (last - first)) * (to - from)
  return { at, decades: Array.from({ length: last - first + 1 }, (_, index) => 10 ** (first + index)) }
}

/** Returns positions beside the end of each line, moved apart where they would overlap. */
function placesOfLabels(ends: readonly number[]): number[] {
  const order = ends.map((_, index) => index).sort((a, b) => (ends[a] ?? 0) - (ends[b] ?? 0))
  const places = [...ends]
  let lowest = Number.NEGATIVE_INFINITY
  for (const index of order) {
    lowest = Math.max(ends[index] ?? 0, lowest + labelGap)
    places[index] = lowest
  }
  const surplus = Math.max(0, lowest - plot.bottom)
  return places.map((place) => place - surplus)
}

function drawLine({ name, points }: Line, index: number, labelY: number, { x, y }: { x: Axis; y: Axis }) {
  const places = points.map(({ size, value }) => [x.at(size).toFixed(1), y.at(value).toFixed(1)] as const)
  const [endX = 0, endY = 0] = places.at(-1) ?? []
  const last = points.at(-1)?.value ?? 0
  return [
    `<g class="line${index % colours.length}">`,
    `<polyline points="${places.map((place) => place.join(',')).join(' ')}"/>`,
    `<path class="lead" d="M${endX} ${endY}L${plot.right + 14} ${labelY.toFixed(1)}"/>`,
    ...places.map(([cx, cy]) => `<circle cx="${cx}" cy="${cy}" r="3.5"/>`),
    text(plot.right + 18, labelY + 4, `${name}: ${shown(last)}`),
    '</g>',
  ].join('')
}

const gridLine = (x1: number, y1: number, x2: number, y2: number) =>
  `<path class="grid" d="M${x1.toFixed(1)} ${y1.toFixed(1)}L${x2.toFixed(1)} ${y2.toFixed(1)}"/>`

const text = (x: number, y: number, content: string, kind = '') =>
  `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}"${kind && ` class="${kind}"`}>${escaped(content)}</text>`

function styles(): string {
  const theme = (dark: 0 | 1, [ground, ink, grid]: [string, string, string]) => [
    `.ground{fill:${ground}}text{fill:${ink}}.grid{stroke:${grid}}`,
    ...colours.map((pair, index) => {
      const colour = pair[dark]
      return `.line${index} text,.line${index} circle{fill:${colour}}.line${index} polyline,.line${index} .lead{stroke:${colour}}`
    }),
  ]
  return [
    'text{font:13px system-ui,sans-serif}.heading{font-weight:600;font-size:16px}.middle{text-anchor:middle}.end{text-anchor:end}',
    'polyline{fill:none;stroke-width:2}.lead{fill:none;stroke-width:1;stroke-dasharray:2 3}',
    ...theme(0, ['#ffffff', '#1f2328', '#d8dee4']),
    `@media (prefers-color-scheme:dark){${theme(1, ['#0d1117', '#e6edf3', '#30363d']).join('')}}`,
  ].join('')
}

const inWords = (lines: readonly Line[], unit: string, scale: string) =>
  [
    `${scale}, by the number of ${unit}.`,
    ...lines.map(({ name, points }) => {
      const each = points.map(({ size, value }) => `${shown(value)} at ${shown(size)}`)
      return `${name}: ${each.join(', ')}.`
    }),
  ].join(' ')

/** Returns a number with two significant digits, or a whole one. */
export const shown = (value: number): string =>
  value >= 10 ? Math.round(value).toLocaleString('en') : String(Number(value.toPrecision(2)))

const escaped = (content: string) =>
  content.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
