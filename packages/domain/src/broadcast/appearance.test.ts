import { describe, expect, it } from 'vitest'
import { bannerColors, broadcastThemes, themeColors } from './appearance.js'

const defaults = { color: '#E75E40', font: '#FFFFFF', theme: 'indigo' }

describe('the colours of a banner', () => {
  it('are the chosen ones, whatever the theme', () => {
    expect(bannerColors({ color: '#000', font: '#FFFFFF', theme: 'red' })).toEqual({
      color: '#000',
      font: '#FFFFFF',
    })
    expect(bannerColors({ color: '', font: '#123456', theme: 'red' })).toEqual({
      color: '#E75E40',
      font: '#123456',
    })
  })

  it('are the theme’s when nobody chose colours', () => {
    for (const color of ['', '#e75e40', '#E75E40']) {
      expect(bannerColors({ ...defaults, color, theme: 'light-green' })).toEqual(themeColors['light-green'])
    }
  })

  it('are the defaults when nothing was chosen, or an unknown theme', () => {
    const standard = { color: '#E75E40', font: '#FFFFFF' }
    expect(bannerColors({ color: '', font: '', theme: 'indigo' })).toEqual(standard)
    expect(bannerColors({ ...defaults, theme: 'toString' })).toEqual(standard)
  })
})

describe('the themes', () => {
  it('are the ten that GitLab’s clients may send', () => {
    expect(broadcastThemes.toSorted()).toEqual(
      [
        'blue',
        'dark',
        'green',
        'indigo',
        'light',
        'light-blue',
        'light-green',
        'light-indigo',
        'light-red',
        'red',
      ].toSorted(),
    )
  })

  it.each(broadcastThemes)('%s is readable: its contrast is at least 4.5', (theme) => {
    const { color, font } = themeColors[theme]
    const [light, dark] = [luminance(color), luminance(font)].sort((a, b) => b - a) as [number, number]
    expect((light + 0.05) / (dark + 0.05)).toBeGreaterThanOrEqual(4.5)
  })
})

/** Returns the relative luminance of WCAG 2. */
function luminance(color: string): number {
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const share = Number.parseInt(color.slice(at, at + 2), 16) / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  }) as [number, number, number]
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}
