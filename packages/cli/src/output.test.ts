import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { facts, instant, oneLine, safeJson, severalLines, table } from './output.js'

const hostile = 'a\u001b[2Jb\u202ec\u0007\rd\ne\u009b31m\ud800'

const anyText = fc.string({
  unit: fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)),
})

describe('texts of the server on a terminal', () => {
  it('are on one line, and no terminal command in them takes effect', () => {
    expect(oneLine(hostile)).toBe('aU+001B[2JbU+202EcU+0007 d eU+009B31m\ufffd')
    fc.assert(
      fc.property(anyText, (text) => {
        expect(oneLine(text)).not.toMatch(/\p{Cc}|\p{Bidi_Control}|\p{Cs}/u)
      }),
    )
  })

  it('keep their lines behind a margin when lines are shown', () => {
    expect(severalLines('one\r\n✓ two\rthree')).toBe('  one\n  ✓ two three')
  })

  it('are escaped in JSON, with the same value', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const json = safeJson({ text })
        expect(json).not.toMatch(/\p{Cc}|\p{Cf}/u)
        expect(JSON.parse(json)).toEqual({ text })
      }),
    )
    expect(safeJson('\u{e0041}')).toBe('"\\udb40\\udc41"')
  })
})

describe('tables', () => {
  it('have columns as wide as their texts appear on a terminal', () => {
    expect(
      table(
        ['NAME', 'STATE'],
        [
          ['構築', 'success'],
          ['e\u0301', null],
          ['build', 0],
        ],
      ),
    ).toBe('NAME   STATE\n構築   success\ne\u0301      -\nbuild  0')
  })

  it('show only headings when there are no rows', () => {
    expect(table(['ID', 'NAME'], [])).toBe('ID  NAME')
  })

  it('omit facts without a value', () => {
    expect(facts({ name: 'build', ref: null, pipeline: 7 })).toBe('name      build\npipeline  7')
  })
})

it('an instant is shown to the second', () => {
  expect(instant('2026-11-27T08:00:00.123Z')).toBe('2026-11-27T08:00:00Z')
  expect(instant(null)).toBeUndefined()
})
