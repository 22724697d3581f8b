import fc from 'fast-check'
import { expect, it } from 'vitest'
import { partsOf } from './attachments'

const secret = '0123456789abcdef'.repeat(2)

it('pictures and other files are found in a text', () => {
  expect(
    partsOf(`See ![shot](/uploads/${secret}/shot.PNG) and [log](/uploads/${secret}/build_1.log)!`),
  ).toEqual([
    'See ',
    { label: 'shot', secret, fileName: 'shot.PNG', isPicture: true },
    ' and ',
    { label: 'log', secret, fileName: 'build_1.log', isPicture: false },
    '!',
  ])
  expect(partsOf(`[](/uploads/${secret}/Übersicht.png)`)).toEqual([
    { label: 'Übersicht.png', secret, fileName: 'Übersicht.png', isPicture: false },
  ])
  expect(partsOf(`![drawing](/uploads/${secret}/drawing.svg)`)).toMatchObject([{ isPicture: false }])
})

it.each([
  '![x](https://evil.example/x.png)',
  `![x](https://evil.example/uploads/${secret}/x.png)`,
  `![x](//evil.example/uploads/${secret}/x.png)`,
  `![x](/uploads/${secret}/../../../-/x.png)`,
  `![x](/uploads/${secret}/x.png?y)`,
  `![x](/uploads/${secret}/%2e%2e)`,
  '![x](/uploads/1/x.png)',
  '![x](data:image/png;base64,AAAA)',
  '[x](javascript:alert(1))',
  '<img src=x onerror=alert(1)>',
])('%s is text', (note) => {
  expect(partsOf(note)).toEqual([note])
})

it('splitting a text loses nothing, whatever it contains', () => {
  const piece = fc.constantFrom('![', '[', '](', ')', '/uploads/', secret, '/a.png', 'x', '\n', '<b>', '..')
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
      const parts = partsOf(pieces.join(''))
      const texts = parts.filter((part) => typeof part === 'string')
      expect(texts.every((text) => pieces.join('').includes(text))).toBe(true)
      if (texts.length === parts.length) expect(texts.join('')).toBe(pieces.join(''))
    }),
    { numRuns: 300 },
  )
})
