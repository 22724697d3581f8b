/** The least contrast of readable text in WCAG 2 (AA). */
const contrastMin = 4.5

/**
 * Returns the text colour for a background: the requested colour when it is readable, otherwise black or
 * white. Both colours are `#` and 3 or 6 hex digits; any other text counts as black.
 */
export function readableColor(background: string, font: string): string {
  const contrast = (color: string) => contrastOfColors(background, color)
  if (contrast(font) >= contrastMin) return font
  return contrast('#fff') > contrast('#000') ? '#fff' : '#000'
}

/** Returns the contrast of two colours by WCAG 2, from 1 to 21. */
export function contrastOfColors(one: string, other: string): number {
  const [lighter = 0, darker = 0] = [luminance(one), luminance(other)].sort((a, b) => b - a)
  return (lighter + 0.05) / (darker + 0.05)
}

/** Returns the relative luminance of WCAG 2. */
function luminance(color: string): number {
  const digits = color.length === 4 ? color.replace(/[^#]/g, '$&$&') : color
  const part = (at: number) => {
    const share = (Number.parseInt(digits.slice(at, at + 2), 16) || 0) / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  }
  return 0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5)
}
