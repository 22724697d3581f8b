import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Piece, parseMarkdown, safeAddress } from './markdown.js'

/** Returns a short form for reading: `strong(…)`, links with their address. */
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
    ['имя_файла_лога и _курсив_', 'имя_файла_лога и em(курсив)'],
    ['日本_語_です', '日本_語_です'],
    ['これは*重要*です', 'これはem(重要)です'],
    ['über_alle_maßen', 'über_alle_maßen'],
  ])('%j reads as %j', (text, read) => {
    expect(shape(parseMarkdown(text))).toBe(read)
  })
})

/** As GitHub shows them, except for full-width punctuation. */
describe('the links of a message', () => {
  it.each([
    ['https://en.wikipedia.org/wiki/Terminator_(franchise)', 'a(*)'],
    ['(see https://x.example/a)', '(see a(https://x.example/a))'],
    ['(https://x.example/a_(b))', '(a(https://x.example/a_(b)))'],
    ['https://x.example/a_(b)_(c))).', 'a(https://x.example/a_(b)_(c)))).'],
    ['https://x.example/(((a', 'a(*)'],
    ['https://x.example/a?b=(c)&d=1', 'a(*)'],
    ['[wiki](https://en.wikipedia.org/wiki/A_(B))', 'a<https://en.wikipedia.org/wiki/A_(B)>(wiki)'],
    ['[wiki](https://x.example/A_(B_(C))_D) end', 'a<https://x.example/A_(B_(C))_D>(wiki) end'],
    ['[wiki](<https://x.example/A_(B>) end', 'a<https://x.example/A_(B>(wiki) end'],
    ['[wiki](https://x.example/A_(B) end', '[wiki](a(https://x.example/A_(B)) end'],
    ['https://example.com/foo。次の文。', 'a(https://example.com/foo)。次の文。'],
    ['全角（https://example.com/baz）です。', '全角（a(https://example.com/baz)）です。'],
    [
      '「https://example.com/a」、『https://example.com/b』',
      '「a(https://example.com/a)」、『a(https://example.com/b)』',
    ],
    [
      '【https://example.com/a】！https://example.com/b？',
      '【a(https://example.com/a)】！a(https://example.com/b)？',
    ],
    ['https://example.com/a，https://example.com/b', 'a(https://example.com/a)，a(https://example.com/b)'],
    ['详见https://example.com/a', '详见a(https://example.com/a)'],
    [
      'https://ja.wikipedia.org/wiki/日本',
      'a<https://ja.wikipedia.org/wiki/%E6%97%A5%E6%9C%AC>(https://ja.wikipedia.org/wiki/日本)',
    ],
    ['mailto:ops@x.example', 'a(*)'],
    ['Write mailto:ops@x.example, or call', 'Write a(mailto:ops@x.example), or call'],
    ['mailto: nobody', 'mailto: nobody'],
    ['HTTPS://X.example/A', 'a<https://x.example/A>(HTTPS://X.example/A)'],
    ['Http://x.example/', 'a<http://x.example/>(Http://x.example/)'],
    ['[x](HTTPS://x.example/)', 'a<https://x.example/>(x)'],
    ['MAILTO:a@b.example', 'a<mailto:a@b.example>(MAILTO:a@b.example)'],
    ['www.x.example/a.', 'a<http://www.x.example/a>(www.x.example/a).'],
    ['<https://x.example/a_(b)>', 'a(https://x.example/a_(b))'],
    ['Ask ops.team+x@mail.x.example.', 'Ask a<mailto:ops.team+x@mail.x.example>(ops.team+x@mail.x.example).'],
    ['help@x.example, @somebody a@b', 'a<mailto:help@x.example>(help@x.example), @somebody a@b'],
    ['https://me@x.example/', 'a(*)'],
    ['"https://x.example/a"', '"a(https://x.example/a)"'],
    ["https://x.example/it's", 'a(*)'],
    ['**https://x.example/a**', 'strong(a(https://x.example/a))'],
    ['xhttps://x.example/a', 'xhttps://x.example/a'],
    ['https://', 'https://'],
    ['https://x.example/a;', 'a(https://x.example/a);'],
    ['https://x.example/a?b&copy;', 'a(https://x.example/a?b)&copy;'],
    ['(https://x.example/a&amp;&lt;).', '(a(https://x.example/a)&amp;&lt;).'],
    ['https://x.example/a&b=c;', 'a(https://x.example/a&b=c);'],
  ])('%j reads as %j', (text, read) => {
    const short = (pieces: Piece[]) =>
      shape(pieces).replaceAll(/a<(.*?)>\(\1\)/g, (_all, address) => `a(${address})`)
    expect(short(parseMarkdown(text))).toBe(read.replace('*', text))
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
  ])('with a target that no message may have is plain text: %j', (target) => {
    expect(safeAddress(target)).toBeNull()
    const pieces = parseMarkdown(`[x](${target})`)
    expect(pieces.filter((piece) => typeof piece === 'object' && piece.tag === 'a')).toEqual([])
  })
})

const flatten = (pieces: Piece[]): Piece[] =>
  pieces.flatMap((piece) => (typeof piece === 'string' ? [piece] : [piece, ...flatten(piece.pieces)]))

describe('any text at all', () => {
  const fragment = fc.constantFrom(
    '*',
    '**',
    '_',
    '`',
    '~~',
    '[',
    '](',
    ')',
    '\\',
    '\n',
    ' ',
    'a',
    'word',
    '<img src=x onerror=x>',
    'https://x.example',
    'javascript:x',
    'mailto:a@b',
    '"',
    "'",
    '(',
    'data:text/html,x',
  )
  const anyText = fc.oneof(
    fc.string(),
    fc.array(fragment, { maxLength: 30 }).map((parts) => parts.join('')),
  )

  it('is parsed into known elements, with links to pages and mail addresses only, and no link within a link', () => {
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

  const slow = [
    '[a](https://x/(',
    '[a](https://x/((a)',
    'https://x/)',
    'https://x/(',
    'mailto:a@',
    'www.',
    'a@b.',
    'a.a@',
    '<https://x',
    '_я',
  ]
  it.each(['*a', '**a', '`a', '[a', '~~a', '[a](', '_a ', 'https://', ...slow])(
    'is parsed quickly, even when it is long and made to be slow: %s',
    (part) => {
      const startedAt = performance.now()
      parseMarkdown(part.repeat(20_000))
      expect(performance.now() - startedAt).toBeLessThan(2000)
    },
  )
})
