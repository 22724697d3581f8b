import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { rowsOf } from './diff-rows'
import { countLines, type DiffLine, type Hunk, parseDiff } from './parse-diff'

const sample = `@@ -1,3 +1,4 @@ class Order
 one
-two
+zwei
+drei
 four
@@ -10 +11 @@
-last
\\ No newline at end of file
+Last
`

const signs = { context: ' ', added: '+', removed: '-' } as const

/** Lines of a hunk, of any kind, as the text of a diff. */
const hunk = fc.record({
  oldLine: fc.nat(5000),
  newLine: fc.nat(5000),
  lines: fc.array(
    fc.record({
      kind: fc.constantFrom('context', 'added', 'removed'),
      text: fc.string().filter((text) => !text.includes('\n')),
    }),
    { minLength: 1 },
  ),
})

function textOf({ oldLine, newLine, lines }: typeof hunk extends fc.Arbitrary<infer Value> ? Value : never) {
  const count = (other: DiffLine['kind']) => lines.filter(({ kind }) => kind !== other).length
  const header = `@@ -${oldLine},${count('added')} +${newLine},${count('removed')} @@`
  return [header, ...lines.map(({ kind, text }) => signs[kind] + text)].map((line) => `${line}\n`).join('')
}

const sideOf = (hunks: Hunk[], side: 'oldLine' | 'newLine') =>
  hunks.flatMap(({ lines }) => lines.filter((line) => line[side] !== undefined))

describe('the text of a diff', () => {
  it('is parsed into hunks of lines with their numbers on each side', () => {
    expect(parseDiff(sample)).toEqual([
      {
        header: '@@ -1,3 +1,4 @@ class Order',
        lines: [
          { kind: 'context', text: 'one', oldLine: 1, newLine: 1 },
          { kind: 'removed', text: 'two', oldLine: 2 },
          { kind: 'added', text: 'zwei', newLine: 2 },
          { kind: 'added', text: 'drei', newLine: 3 },
          { kind: 'context', text: 'four', oldLine: 3, newLine: 4 },
        ],
      },
      {
        header: '@@ -10 +11 @@',
        lines: [
          { kind: 'removed', text: 'last', oldLine: 10, isWithoutBreak: true },
          { kind: 'added', text: 'Last', newLine: 11 },
        ],
      },
    ])
    expect(countLines(parseDiff(sample))).toEqual({ additions: 3, deletions: 2 })
  })

  it('of a file without lines is parsed into nothing', () => {
    expect(parseDiff('')).toEqual([])
    expect(parseDiff('Binary files differ\n')).toEqual([])
  })

  it('keeps every line and numbers them from the header, whatever the lines look like', () => {
    fc.assert(
      fc.property(fc.array(hunk), (given) => {
        const hunks = parseDiff(given.map(textOf).join(''))
        expect(hunks.map(({ lines }) => lines.map(({ kind, text }) => ({ kind, text })))).toEqual(
          given.map(({ lines }) => lines),
        )
        for (const [index, { lines }] of hunks.entries())
          for (const side of ['oldLine', 'newLine'] as const) {
            const numbers = lines.flatMap((line) => line[side] ?? [])
            expect(numbers).toEqual(numbers.map((_, at) => (given[index]?.[side] ?? 0) + at))
          }
      }),
    )
  })
})

describe('the rows of a diff', () => {
  it('are one below the other, or removed lines beside added ones', () => {
    const [first] = parseDiff(sample)
    const hunks = first ? [first] : []
    const [one, two, zwei, drei, four] = first?.lines ?? []
    const header = { header: '@@ -1,3 +1,4 @@ class Order' }
    expect(rowsOf(hunks, 'unified')).toEqual([
      header,
      { old: one, new: one },
      { old: two },
      { new: zwei },
      { new: drei },
      { old: four, new: four },
    ])
    expect(rowsOf(hunks, 'split')).toEqual([
      header,
      { old: one, new: one },
      { old: two, new: zwei },
      { new: drei },
      { old: four, new: four },
    ])
  })

  it('show every line of each side once and in order, in both views', () => {
    fc.assert(
      fc.property(fc.array(hunk), fc.constantFrom('unified', 'split'), (given, view) => {
        const hunks = parseDiff(given.map(textOf).join(''))
        const rows = rowsOf(hunks, view).flatMap((row) => (row.header === undefined ? [row] : []))
        expect(rows.flatMap((row) => row.old ?? [])).toEqual(sideOf(hunks, 'oldLine'))
        expect(rows.flatMap((row) => row.new ?? [])).toEqual(sideOf(hunks, 'newLine'))
      }),
    )
  })
})
