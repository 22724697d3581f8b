import fc from 'fast-check'
import { expect, it } from 'vitest'
import { markdownOf, pictureTypeOf, uploadNameOf } from './file-names.js'

it.each([
  ['a.png', 'a.png'],
  ['my file (1).tar.gz', 'my_file__1_.tar.gz'],
  ['../../etc/passwd', 'passwd'],
  ['C:\\temp\\a.txt', 'a.txt'],
  ['..', '_..'],
  ['a/', '_'],
  ['', '_'],
  ['.env', '.env'],
  ['übersicht+2.md', 'übersicht+2.md'],
  ['a\0b\r\n"c".html', 'a_b___c_.html'],
  [`${'x'.repeat(300)}.png`, `${'x'.repeat(251)}.png`],
  [`${'ü'.repeat(300)}.png`, `${'ü'.repeat(125)}.png`],
])('the name of %j is %j', (given, name) => {
  expect(uploadNameOf(given)).toBe(name)
})

it('a name of any length is shortened within the time of a test', () => {
  expect(uploadNameOf(`${'ü'.repeat(500_000)}.png`)).toBe(`${'ü'.repeat(125)}.png`)
})

it('a name is never empty, contains no path, and is short enough', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 400 }), (given) => {
      const name = uploadNameOf(given)
      expect(name).toMatch(/^[^/\\\0]+$/)
      expect(['.', '..']).not.toContain(name)
      expect(Buffer.byteLength(name)).toBeLessThanOrEqual(255)
      expect(uploadNameOf(name)).toBe(name)
    }),
  )
})

it.each([
  ['a.b.PNG', { alt: 'a.b', markdown: '![a.b](/x)' }],
  ['a.svg', { alt: 'a.svg', markdown: '[a.svg](/x)' }],
  ['.png', { alt: '.png', markdown: '[.png](/x)' }],
])('%s in Markdown', (name, expected) => {
  expect(markdownOf(name, '/x')).toEqual(expected)
})

it.each([
  ['a.JPG', 'image/jpeg'],
  ['a.webp', 'image/webp'],
  ['a.svg', undefined],
  ['a.png.html', undefined],
])('a browser shows %s as %s', (name, type) => {
  expect(pictureTypeOf(name)).toBe(type)
})
