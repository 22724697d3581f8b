import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { csvLine } from './export.js'

describe('a line of CSV', () => {
  it('quotes characters that would end a cell or a line', () => {
    expect(csvLine(['a', 'b,c', 'd"e', 'f\ng', ''])).toBe('a,"b,c","d""e","f\ng",\r\n')
  })

  it('writes times in ISO 8601, null as empty, and numbers and booleans unchanged', () => {
    expect(csvLine([new Date(0), null, undefined, 12, true])).toBe('1970-01-01T00:00:00.000Z,,,12,true\r\n')
  })

  it.each(['=1+1', '+1', '-1', '@SUM(A1)', '\tx', '\rx', '\n=1', '＝1'])(
    'disarms the formula %j',
    (formula) => {
      expect(csvLine([formula]).replaceAll('"', '')).toBe(`'${formula}\r\n`)
    },
  )

  it('preserves every text, except for the apostrophe before a formula', () => {
    fc.assert(
      fc.property(fc.array(fc.string(), { minLength: 1 }), (cells) => {
        const shown = cells.map((cell) => (/^[=+\-@\t\r\n＝＋－＠]/.test(cell) ? `'${cell}` : cell))
        expect(parse(csvLine(cells))).toEqual(shown)
      }),
    )
  })
})

/** Parses the cells of one line strictly by the RFC. */
function parse(line: string): string[] {
  const cells: string[] = []
  for (let rest = line; rest !== ''; ) {
    const [whole = '', quoted, plain = '', end] =
      /^(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/.exec(rest) ?? expect.fail(`no CSV: ${rest}`)
    cells.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'))
    rest = rest.slice(whole.length)
    if (end === '\r\n') expect(rest).toBe('')
  }
  return cells
}
