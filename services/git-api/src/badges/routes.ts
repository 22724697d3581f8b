import type { Database } from '@switchyard/db'
import {
  type Call,
  decimal,
  endpoint,
  flag,
  type Guard,
  integer,
  type Route,
  route,
  streamed,
  text,
} from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { ProjectCall, ProjectResourceDependencies } from '../guards.js'
import { optional, optionalText, pathRest } from '../shapes/parameters.js'
import { findBadgeCoverage, findBadgeStatus } from './badges.js'

/** A badge: two texts beside each other. */
interface Badge {
  key: string
  value: string
  /** Color of the field behind the value. */
  color: string
  /** Width of the field of the key; undefined: it follows from the text. */
  keyWidth: number | undefined
  style: 'flat' | 'flat-square'
}

const statusColors = new Map([
  ['success', '#4c1'],
  ['failed', '#e05d44'],
  ['running', '#dfb317'],
  ['pending', '#dfb317'],
])
const grey = '#9f9f9f'

/** Text and color of a pipeline badge, as in GitLab. @param status null: there is none */
const presentBadgeStatus = (status: string | null): Pick<Badge, 'value' | 'color'> => ({
  value: status === 'success' ? 'passed' : (status ?? 'unknown'),
  color: statusColors.get(status ?? '') ?? grey,
})

/** Per cent from which on a coverage has a color. */
interface CoverageLimits {
  good: number
  acceptable: number
  medium: number
}

/** Text and color of a coverage badge, as in GitLab. @param coverage per cent; null: there is none */
function presentBadgeCoverage(
  coverage: number | null,
  { good, acceptable, medium }: CoverageLimits,
): Pick<Badge, 'value' | 'color'> {
  if (coverage === null) return { value: 'unknown', color: grey }
  const value = `${coverage.toFixed(2)}%`
  if (coverage >= good) return { value, color: '#4c1' }
  if (coverage >= acceptable) return { value, color: '#a3c51c' }
  return { value, color: coverage >= medium ? '#dfb317' : '#e05d44' }
}

/** The mean width of a character of the font below; the text is scaled to the width that follows. */
const characterWidth = 6.5
const padding = 12

const widthOf = (text: string) => Math.round([...text].length * characterWidth) + padding

/** An image that needs no other files. */
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

/** Escapes text for XML. Control characters and others that XML cannot hold become a question mark. */
const escapeXml = (text: string): string =>
  text
    .replace(/[\p{Cc}\p{Cs}\ufffe\uffff]/gu, '?')
    .replace(/[&<>"']/g, (character) => escapes[character] ?? '')

/** Images for pages: everybody who may read the code of the project sees them, also without a token. */
export function badgeRoutes({ database, guards }: ProjectResourceDependencies): Route[] {
  const guard: Guard<ProjectCall> = (call) =>
    guards.getProjectFor(call, 'read_code', `${call.params.namespace}/${call.params.project}`)
  const badges = '/:namespace/:project/badges/*ref'
  const options = { outsideApi: true }
  return [
    route('GET', `${badges}/pipeline.svg`, guard, pipelineBadge(database), options),
    route('GET', `${badges}/coverage.svg`, guard, coverageBadge(database), options),
  ]
}

const keyLengthMax = 25
const keyWidthMax = 512

const badgeParameters = {
  ref: pathRest(),
  key_text: optionalText(text(keyLengthMax)),
  key_width: optional(
    integer().refine((width) => width >= 1 && width <= keyWidthMax, { error: 'does not have a valid value' }),
  ),
  style: z.enum(['flat', 'flat-square']).default('flat'),
}

const pipelineBadge = (database: Database) =>
  endpoint({
    input: z.object({ ...badgeParameters, ignore_skipped: flag().default(false) }),
    async handle(
      { ref, ignore_skipped, key_text = 'pipeline', key_width, style },
      access: ProjectCall,
      call,
    ) {
      const status = await findBadgeStatus(database, access, ref, ignore_skipped)
      return sendBadge(call, { key: key_text, keyWidth: key_width, style, ...presentBadgeStatus(status) })
    },
  })

const perCent = (preset: number) =>
  decimal()
    .refine((value) => value >= 0 && value <= 100, { error: 'does not have a valid value' })
    .default(preset)

const coverageBadge = (database: Database) =>
  endpoint({
    input: z.object({
      ...badgeParameters,
      job: optionalText(text()),
      min_good: perCent(95),
      min_acceptable: perCent(90),
      min_medium: perCent(75),
    }),
    async handle({ ref, job, key_text = 'coverage', key_width, style, ...given }, access: ProjectCall, call) {
      const limits = { good: given.min_good, acceptable: given.min_acceptable, medium: given.min_medium }
      const coverage = await findBadgeCoverage(database, access, ref, job)
      const said = presentBadgeCoverage(coverage, limits)
      return sendBadge(call, { key: key_text, keyWidth: key_width, style, ...said })
    },
  })

/** Pages of other servers show the badge, so no cache between may keep an old one. */
function sendBadge({ raw: { response } }: Call, badge: Badge): typeof streamed {
  response.set({
    'Cache-Control': 'private, no-store, no-cache, must-revalidate, max-age=0',
  })
  response.type('image/svg+xml').send(Buffer.from(presentBadge(badge)))
  return streamed
}
