import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { hexOf, indentJson } from './payload-text'

describe('indented JSON', () => {
  it('has one member or element per line', () => {
    expect(indentJson('{"a":1,"b":[true,null],"c":{},"d":[ ]}')).toBe(
      ['{', '  "a": 1,', '  "b": [', '    true,', '    null', '  ],', '  "c": {},', '  "d": []', '}'].join(
        '\n',
      ),
    )
  })

  it('means the same as the original text', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(undefined, 1, '\t'), (value, indent) => {
        const text = JSON.stringify(value, null, indent)
        expect(JSON.parse(indentJson(text))).toEqual(JSON.parse(text))
        expect(indentJson(indentJson(text))).toBe(indentJson(text))
      }),
    )
  })

  it.each(['12345678901234567890', '1.10', '-0', '1E400', '"\\u0041 : , { \\" }"'])(
    'leaves %s as it was written',
    (token) => {
      expect(indentJson(`[${token}]`)).toBe(`[\n  ${token}\n]`)
    },
  )

  it('grows no faster than the text when it is deeply nested', () => {
    const depth = 5000
    const text = '['.repeat(depth) + ']'.repeat(depth)
    expect(indentJson(text).length).toBeLessThan(text.length * 70)
  })
})

describe('bytes in hexadecimal', () => {
  it('have an offset, digits and printable characters', () => {
    expect(hexOf(new TextEncoder().encode('Hello,\nworld of 16+'))).toBe(
      [
        '00000000  48 65 6c 6c 6f 2c 0a 77 6f 72 6c 64 20 6f 66 20  Hello,.world of ',
        `00000010  31 36 2b${' '.repeat(41)}16+`,
      ].join('\n'),
    )
    expect(hexOf(new Uint8Array())).toBe('')
  })

  it('are complete, in rows of 16', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        const rows = hexOf(bytes).split('\n').filter(Boolean)
        expect(rows).toHaveLength(Math.ceil(bytes.length / 16))
        const digits = rows.flatMap((row) => row.slice(10, 57).trim().split(' '))
        expect(digits.map((digit) => Number.parseInt(digit, 16))).toEqual([...bytes])
      }),
    )
  })
})
