import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { duration, visibleControls } from './display.js'

describe('a duration', () => {
  it.each([
    [0, '0 ms'],
    [999.4, '999 ms'],
    [999.6, '1.0 s'],
    [1440, '1.4 s'],
    [9949, '9.9 s'],
    [9960, '10 s'],
    [59_400, '59 s'],
    [59_700, '1 min 0 s'],
    [185_000, '3 min 5 s'],
    [3_599_600, '1 h 0 min'],
    [7_440_000, '2 h 4 min'],
    [47 * 3_600_000, '47 h 0 min'],
    [50 * 3_600_000, '2 d 2 h'],
  ])('of %d ms is written %s', (milliseconds, text) => {
    expect(duration(milliseconds)).toBe(text)
  })

  it('never shows a part that rounds up to the next unit', () => {
    const mosts: Record<string, number> = { ms: 999, s: 59, min: 59, h: 47 }
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1e12, noNaN: true }), (milliseconds) => {
        for (const [, figure, unit = ''] of duration(milliseconds).matchAll(/([\d.]+) (ms|s|min|h)\b/g))
          expect(Number(figure)).toBeLessThanOrEqual(mosts[unit] ?? 0)
      }),
    )
  })
})

describe('control characters and hidden characters', () => {
  it.each([
    ['a\u202eb\u2066', 'aU+202EbU+2066'],
    ['\u001b[31mred\u0000\u007f\u0085', 'U+001B[31mredU+0000U+007FU+0085'],
    ['pay\u200bpal\ufeff\u00ad\u2028', 'payU+200BpalU+FEFFU+00ADU+2028'],
    ['ok\u{e0041}\u{e007f}', 'okU+E0041U+E007F'],
    ['\u3164', 'U+3164'],
  ])('of %j are made visible', (text, shown) => {
    expect(visibleControls(text)).toBe(shown)
  })

  it.each([
    'a\tb\r\nc\u00a0d',
    '\u{1f469}\u200d\u{1f4bb}',
    'می\u200cخواهم',
    '\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}',
    'e\u0301 ☺\ufe0f',
  ])('leave %j as it is', (text) => {
    expect(visibleControls(text)).toBe(text)
  })

  it('do not remain in any text, and no other text changes', () => {
    const unit = fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code))
    fc.assert(
      fc.property(fc.string({ unit }), (text) => {
        const shown = visibleControls(text)
        expect(shown).not.toMatch(/\p{Bidi_Control}|[^\P{Cc}\t\n\r]/u)
        if (!/\p{Cc}|\p{Cf}|\p{Zl}|\p{Zp}|\p{Default_Ignorable_Code_Point}/u.test(text))
          expect(shown).toBe(text)
      }),
    )
  })
})
