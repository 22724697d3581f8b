import fc from 'fast-check'
import { expect, it } from 'vitest'
import { readableColor } from './contrast.js'

/** Returns the contrast by WCAG 2 of colours of six digits. */
function contrast(one: string, other: string): number {
  const luminance = (color: string) => {
    const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
      const share = Number.parseInt(color.slice(at, at + 2), 16) / 255
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
    })
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
  }
  const [light, dark] = [luminance(one), luminance(other)].sort((a, b) => b - a) as [number, number]
  return (light + 0.05) / (dark + 0.05)
}

const long = (color: string) =>
  color.length === 4 ? `#${[...color.slice(1)].map((digit) => digit + digit).join('')}` : color

const color = fc.oneof(
  fc.integer({ min: 0, max: 0xffffff }).map((value) => `#${value.toString(16).padStart(6, '0')}`),
  fc.integer({ min: 0, max: 0xfff }).map((value) => `#${value.toString(16).padStart(3, '0')}`),
)

it('the text is readable on any background, and a readable font colour stays', () => {
  fc.assert(
    fc.property(color, color, (background, font) => {
      const chosen = readableColor(background, font)
      expect(contrast(long(background), long(chosen))).toBeGreaterThanOrEqual(4.5)
      if (contrast(long(background), long(font)) >= 4.5) expect(chosen).toBe(font)
      else expect(['#000', '#fff']).toContain(chosen)
    }),
  )
})

it.each([
  ['#E75E40', '#FFFFFF', '#000'],
  ['#000', '#000', '#fff'],
  ['#FFFFFF', '#292961', '#292961'],
  ['nonsense', '#fff', '#fff'],
])('on %s, %s becomes %s', (background, font, chosen) => {
  expect(readableColor(background, font)).toBe(chosen)
})
