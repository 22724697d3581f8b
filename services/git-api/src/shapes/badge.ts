import { answered, type Call, integer, text } from '@switchyard/service-kit/http'
import { z } from 'zod'
import { optional, optionalText } from './parameters.js'

/** A badge: a key and a value beside each other. */
export interface Badge {
  key: string
  value: string
  /** Background color of the value. */
  color: string
  /** Width of the key; undefined: it follows from the text. */
  keyWidth: number | undefined
  style: 'flat' | 'flat-square'
}

/** Background color of an unknown value. */
export const colorOfUnknown = '#9f9f9f'

const keyLengthMax = 25
const keyWidthMax = 512

/** Parameters for the look of a badge. */
export const badgeParameters = {
  key_text: optionalText(text(keyLengthMax)),
  key_width: optional(integer(1, keyWidthMax)),
  style: z.enum(['flat', 'flat-square']).default('flat'),
}

/** The mean width of a character in the font below; the text is scaled to the resulting width. */
const characterWidth = 6.5
const padding = 12

const widthOf = (text: string) => Math.round([...text].length * characterWidth) + padding

/** Returns an image without references to other files. */
function presentBadge({ key, value, color, keyWidth = widthOf(key), style }: Badge): string {
  const valueWidth = widthOf(value)
  const width = keyWidth + valueWidth
  const radius = style === 'flat' ? 4 : 0
  const shade = style === 'flat' ? `<path fill="url(#shade)" d="M0 0h${width}v20H0z"/>` : ''
  const label = escapeXml(`${key}: ${value}`)
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="20" role="img" aria-label="${label}">
<title>${label}</title>
<linearGradient id="shade" x2="0" y2="100%"><stop offset="0" stop-color="#bbb" stop-opacity=".1"/><stop offset="1" stop-opacity=".1"/></linearGradient>
<clipPath id="shape"><rect width="${width}" height="20" rx="${radius}"/></clipPath>
<g clip-path="url(#shape)"><path fill="#555" d="M0 0h${keyWidth}v20H0z"/><path fill="${color}" d="M${keyWidth} 0h${valueWidth}v20H${keyWidth}z"/>${shade}</g>
<g fill="#fff" text-anchor="middle" font-family="DejaVu Sans,Verdana,Geneva,sans-serif" font-size="11">
${textAt(key, keyWidth / 2, keyWidth)}
${textAt(value, keyWidth + valueWidth / 2, valueWidth)}
</g>
</svg>
`
}

function textAt(text: string, x: number, fieldWidth: number): string {
  const length = Math.max(1, Math.min(widthOf(text), fieldWidth) - padding)
  return `<text x="${x}" y="14" textLength="${length}" lengthAdjust="spacingAndGlyphs">${escapeXml(text)}</text>`
}

const escapes: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Escapes text for XML. Characters that XML cannot contain become a question mark. */
const escapeXml = (text: string): string =>
  text
    .replace(/[\p{Cc}\p{Cs}\ufffe\uffff]/gu, '?')
    .replace(/[&<>"']/g, (character) => escapes[character] ?? '')

/** Sends a badge. Pages of other servers show it, so no cache may keep an old one. */
export function sendBadge({ raw: { response } }: Call, badge: Badge): typeof answered {
  response.set({
    'Cache-Control': 'private, no-store, no-cache, must-revalidate, max-age=0',
  })
  response.type('image/svg+xml').send(Buffer.from(presentBadge(badge)))
  return answered
}
