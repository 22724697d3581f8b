import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Piece, parseMarkdown, safeAddress } from './markdown.js'

/** A short form for reading: `strong(…)`, links with their address. */
const shape = (pieces: Piece[]): string =>
  pieces
    .map((piece) => {
      if (typeof piece === 'string') return piece
      const target = piece.tag === 'a' ? `<${piece.href}>` : ''
      return `${piece.tag}${target}(${shape(piece.pieces)})`
    })
    .join('')

describe('a message', () => {
  it.each([
    ['plain text', 'plain text'],
    ['**strong** and *soft* and _soft_', 'strong(strong) and em(soft) and em(soft)'],
    ['**a *b* c**', 'strong(a em(b) c)'],
    ['*a **b** c*', 'em(a strong(b) c)'],
    ['~~gone~~', 'del(gone)'],
    ['`**code**`', 'code(**code**)'],
    ['one\ntwo\r\nthree', 'onebr()twobr()three'],
    [String.raw`\*not\* \[x\](y)`, '*not* [x](y)'],
    ['snake_case_name 2*3*4 a * b * c', 'snake_case_name 2*3*4 a * b * c'],
    ['[a **b**](https://x.example/y?z=1)', 'a<https://x.example/y?z=1>(a strong(b))'],
    ['[mail](mailto:a@b.example)', 'a<mailto:a@b.example>(mail)'],
    ['See https://x.example/a.', 'See a<https://x.example/a>(https://x.example/a).'],
    ['[https://a.example](https://b.example/)', 'a<https://b.example/>(https://a.example)'],
    ['<b>x</b> &amp; <script>y</script>', '<b>x</b> &amp; <script>y</script>'],
  ])('%j reads as %j', (text, read) => {
    expect(shape(parseMarkdown(text))).toBe(read)
  })
})

describe('an address', () => {
  it.each([
    'javascript:alert(1)',
    'JaVaScRiPt:alert(1)',
    'java\tscript:alert(1)',
    '\u0001javascript:alert(1)',
    'data:text/html,<script>alert(1)</script>',
    'vbscript:x',
    'file:///etc/passwd',
    'blob:https://x.example/1',
    '//evil.example',
    '/relative',
    'x',
  ])('that leads nowhere a message may lead is none: %j', (target) => {
    expect(safeAddress(target)).toBeNull()
    const pieces = parseMarkdown(`[x](${target})`)
    expect(pieces.filter((piece) => typeof piece === 'object' && piece.tag === 'a')).toEqual([])
  })
})

const flatten = (pieces: Piece[]): Piece[] =>
  pieces.flatMap((piece) => (typeof piece === 'string' ? [piece] : [piece, ...flatten(piece.pieces)]))

describe('any text at all', () => {
  const fragment = fc.constantFrom(
    ...['*', '**', '_', '`', '~~', '[', '](', ')', '\\', '\n', ' ', 'a', 'word', '<img src=x onerror=x>'],
    ...['https://x.example', 'javascript:x', 'mailto:a@b', '"', "'", '(', 'data:text/html,x'],
  )
  const anyText = fc.oneof(
    fc.string(),
    fc.array(fragment, { maxLength: 30 }).map((parts) => parts.join('')),
  )

  it('reads as known elements, with links to pages and mail addresses only, none within another', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        for (const piece of flatten(parseMarkdown(text))) {
          if (typeof piece === 'string') continue
          expect(['strong', 'em', 'del', 'code', 'br', 'a']).toContain(piece.tag)
          if (piece.tag !== 'a') continue
          expect(piece.href).toMatch(/^(https?|mailto):/)
          expect(flatten(piece.pieces).some((inner) => typeof inner === 'object' && inner.tag === 'a')).toBe(
            false,
          )
        }
      }),
      { numRuns: 3000 },
    )
  })

  it('loses no letter', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const letters = (value: string) => value.replace(/[^a-z]/gi, '')
        const shown = flatten(parseMarkdown(text)).filter((piece) => typeof piece === 'string')
        // The address of a link with a separate text is not shown.
        if (!text.includes('](')) expect(letters(shown.join(''))).toBe(letters(text))
      }),
    )
  })

  it.each(['*a', '**a', '`a', '[a', '~~a', '[a](', '_a ', 'https://'])(
    'is read quickly, also when it is long and made to be slow: %s',
    (part) => {
      const startedAt = performance.now()
      parseMarkdown(part.repeat(20_000))
      expect(performance.now() - startedAt).toBeLessThan(2000)
    },
  )
})
