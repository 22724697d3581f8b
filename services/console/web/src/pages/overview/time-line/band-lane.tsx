import type { CSSProperties, ReactNode } from 'react'
import { mayUse, useSession } from '../../../api/session'
import { TextLink } from '../../../components/text-link'
import type { Band } from './bands'
import { Lane } from './lane'
import { placeIn, roomOf, rowsOf, type Span } from './time-line-model'
import type { MarkOf } from './use-marks'

const rowHeight = 28
const rowsMax = 4
// In pixels: the smallest width of a band, and the largest width of its text beside it.
const widthMin = 26
const textMax = 240
const characterWidth = 6.5
const padding = 14
/** Used while the width is not measured yet. */
const plotWidthGuess = 600

const looks = {
  freeze: { box: 'border-warn bg-warn-soft', text: 'text-warn' },
  broadcast: { box: 'border-dashed border-busy bg-busy-soft', text: 'text-busy' },
}

/** Freezes with a solid border, and broadcasts with a dashed one. */
export function BandLane({
  bands,
  span,
  plotWidth,
  markOf,
}: {
  bands: readonly Band[]
  span: Span
  /** In pixels. */
  plotWidth: number
  markOf: MarkOf
}) {
  const percentOf = (pixels: number) => (pixels / (plotWidth || plotWidthGuess)) * 100
  const places = bands.map(({ from, to, text }) => {
    const least = percentOf(widthMin)
    const left = Math.min(placeIn(span, from), 100 - least)
    const drawn = { left, right: Math.max(placeIn(span, to), left + least) }
    const room = roomOf(drawn, percentOf(Math.min(textMax, text.length * characterWidth + padding)))
    return { drawn, ...room }
  })
  const rows = rowsOf(places, rowsMax)
  return (
    <Lane name="Freezes and broadcasts" height={(Math.max(...rows) + 1) * rowHeight}>
      {bands.map((band, index) => {
        const place = places[index]
        if (!place) return null
        const { left, right, drawn, isBefore } = place
        const width = right - left
        const drawnWidth = drawn.right - drawn.left
        return (
          <BandLink
            key={band.key}
            band={band}
            {...markOf(band.key)}
            title={band.label}
            aria-label={band.label}
            className={`absolute isolate flex h-[24px] items-center px-1.5 text-xs ${isBefore ? 'justify-end' : ''} ${looks[band.kind].text}`}
            style={{
              left: `${left}%`,
              width: `${width}%`,
              top: (rows[index] ?? 0) * rowHeight,
              ...(isBefore && { paddingRight: `calc(${drawnWidth}% + 6px)` }),
            }}
          >
            <span
              className={`absolute inset-y-0 -z-10 rounded border ${looks[band.kind].box}`}
              style={{
                left: `${((drawn.left - left) / width) * 100}%`,
                width: `${(drawnWidth / width) * 100}%`,
              }}
            />
            <bdi className="truncate">{band.text}</bdi>
          </BandLink>
        )
      })}
    </Lane>
  )
}

/**
 * Leads to the freeze periods of the project, or to the message. Viewers who may not manage messages see it
 * on this page.
 */
export function BandLink({
  band: { kind, of },
  children,
  ...props
}: { band: Band; children: ReactNode } & Partial<ReturnType<MarkOf>> & {
    title?: string
    'aria-label'?: string
    className?: string
    style?: CSSProperties
  }) {
  const session = useSession()
  const mayChange = session.scopes.includes('api') || session.scopes.includes('manage_broadcasts')
  if (kind === 'freeze') {
    const [namespace = '', name = ''] = of.split('/')
    return (
      <TextLink {...props} to="/projects/$namespace/$name/deployments" params={{ namespace, name }}>
        {children}
      </TextLink>
    )
  }
  if (!mayUse(session, 'broadcasts'))
    return (
      <TextLink {...props} to="/" hash="broadcasts" search={(before) => before}>
        {children}
      </TextLink>
    )
  return (
    <TextLink {...props} to="/broadcasts" search={mayChange ? { edit: of } : {}}>
      {children}
    </TextLink>
  )
}
