import type { CSSProperties, ReactNode } from 'react'
import { mayUse, useSession } from '../../../api/session'
import { TextLink } from '../../../components/text-link'
import type { Band } from './bands'
import { Lane } from './lane'
import { placeIn, rowsOf, type Span } from './time-line-model'
import type { MarkOf } from './use-marks'

const rowHeight = 28
const rowsMax = 4
/** A band that is shorter is shown so wide, in pixels. */
const widthMin = 26

const looks = {
  freeze: 'border-warn bg-warn-soft text-warn',
  broadcast: 'border-dashed border-busy bg-busy-soft text-busy',
}

/** Freezes with a whole border, and broadcasts with a dashed one. */
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
  const places = bands.map(({ from, to }) => {
    const [left, right] = [placeIn(span, from), placeIn(span, to)]
    const least = plotWidth === 0 ? 0 : (widthMin / plotWidth) * 100
    return { left: Math.min(left, 100 - least), right: Math.max(right, left + least) }
  })
  const rows = rowsOf(places, rowsMax)
  return (
    <Lane name="Freezes and broadcasts" height={(Math.max(...rows) + 1) * rowHeight}>
      {bands.map((band, index) => {
        const { left = 0, right = 0 } = places[index] ?? {}
        return (
          <BandLink
            key={band.key}
            band={band}
            {...markOf(band.key)}
            title={band.label}
            aria-label={band.label}
            className={`absolute flex h-[24px] items-center overflow-hidden rounded border px-1.5 text-xs ${looks[band.kind]}`}
            style={{
              left: `${left}%`,
              width: `${right - left}%`,
              minWidth: widthMin,
              top: (rows[index] ?? 0) * rowHeight,
            }}
          >
            <bdi className="truncate">{band.text}</bdi>
          </BandLink>
        )
      })}
    </Lane>
  )
}

/** Leads to the page of the project with its freeze periods, or to the message; those who may not manage messages see it on this page. */
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
