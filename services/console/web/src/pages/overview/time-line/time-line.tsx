import { type RefObject, useEffect, useRef, useState } from 'react'
import { Panel } from '../../../components/page'
import { RangeChoice } from '../../../components/range-choice'
import { Problem } from '../../../components/states'
import { useNow } from '../../../components/time'
import type { EndedDeployment } from '../../../generated/types.gen'
import { countOf, exactTime } from '../../../lib/format'
import { oneOf } from '../../../lib/search-params'
import { BandLane } from './band-lane'
import { type Band, bandsOf } from './bands'
import { DeploymentLane, deploymentKey, endOf } from './deployment-lane'
import { CauseList, causeKey, FailureLane, LatencyLane, latencyKey } from './figure-lanes'
import {
  causesOf,
  type Hours,
  hourChoices,
  hoursNames,
  latenciesOf,
  type Mark,
  placeIn,
  type Span,
  spanOf,
  ticksOf,
} from './time-line-model'
import { TimeLineTables } from './time-line-tables'
import { useMarks } from './use-marks'
import { useTimeLine } from './use-time-line'

/** Deployments, failures, latency, freezes and broadcasts of the last hours on one time axis. */
export function TimeLine({
  hours: given,
  onHours,
}: {
  hours: string | undefined
  onHours: (hours: Hours) => void
}) {
  const hours = oneOf(hoursNames, given) ?? '24'
  const found = useTimeLine(hours)
  const { withheld, failed, isPending, deployments } = found
  const shown = deployments?.rows.length ?? 0
  return (
    <Panel
      name="Time line"
      busy={isPending}
      actions={<RangeChoice names={hourChoices} range={hours} onChoose={onHours} />}
    >
      {failed && <Problem error={failed.error} retry={failed.refetch} />}
      <Picture hours={hours} found={found} />
      {shown < (deployments?.total ?? 0) && (
        <p className="mt-2 text-sm text-quiet">
          Of {countOf(deployments?.total ?? 0, 'deployment')}, the last {shown} are shown.
        </p>
      )}
      {withheld.length > 0 && (
        <p className="mt-2 text-sm text-quiet">
          What this token may not read is left out: {withheld.join(', ')}.
        </p>
      )}
    </Panel>
  )
}

const tiers = ['production', 'staging', 'testing', 'development', 'other'] satisfies EndedDeployment['tier'][]

/** Returns the content of the picture within a span. */
function contentOf(
  span: Span,
  { deployments, freezes, broadcasts, failures, latencies }: ReturnType<typeof useTimeLine>,
) {
  const ended = (deployments?.rows ?? []).filter((each) => endOf(each) >= span.from && endOf(each) < span.to)
  return {
    bands: bandsOf(span, freezes, broadcasts),
    tiers: tiers.flatMap((tier) => {
      const own = ended.filter((deployment) => deployment.tier === tier)
      return own.length > 0 ? [{ tier, deployments: own }] : []
    }),
    causes: failures && causesOf(span, failures),
    latencies: latenciesOf(span, latencies?.points ?? []),
  }
}

type Content = ReturnType<typeof contentOf>

const isKnown = (latencies: Content['latencies']) => latencies.some((latency) => latency !== null)

function marksOf(span: Span, { bands, tiers, causes = [], latencies }: Content): Mark[] {
  const below = tiers.length + 1
  const at = (counts: readonly (number | null)[]) =>
    span.from + counts.indexOf(Math.max(...counts.map((value) => value ?? 0))) * span.bucketMs
  return [
    ...bands.map(({ key, from }) => ({ key, lane: 0, at: from })),
    ...tiers.flatMap(({ deployments }, index) =>
      deployments.map((each) => ({ key: deploymentKey(each), lane: index + 1, at: endOf(each) })),
    ),
    ...causes.map((cause) => ({ key: causeKey(cause), lane: below, at: at(cause.counts) })),
    ...(isKnown(latencies) ? [{ key: latencyKey, lane: below + 1, at: at(latencies) }] : []),
  ]
}

function Picture({ hours, found }: { hours: Hours; found: ReturnType<typeof useTimeLine> }) {
  const now = useNow()
  const span = spanOf(hours, now)
  const content = contentOf(span, found)
  const { bands, tiers, causes, latencies } = content
  const ref = useRef<HTMLElement>(null)
  const plotWidth = useWidth(ref)
  const marks = marksOf(span, content)
  const markOf = useMarks(ref, marks)
  const name = hourChoices.find(([value]) => value === hours)?.[1]
  const lane = { span, plotWidth, markOf }
  return (
    <figure ref={ref} aria-label={`Time line, ${name}`} className="min-w-0">
      <div className="relative isolate overflow-x-clip">
        <Backdrop span={span} bands={bands} now={now} />
        {bands.length > 0 && <BandLane {...lane} bands={bands} />}
        {tiers.map((tier) => (
          <DeploymentLane key={tier.tier} {...lane} {...tier} />
        ))}
        {causes && causes.length > 0 && <FailureLane {...lane} causes={causes} />}
        {isKnown(latencies) && <LatencyLane {...lane} latencies={latencies} />}
        <Axis span={span} />
      </div>
      <p className="text-sm text-quiet">
        {!found.isPending && tiers.length === 0 && found.deployments && 'Nothing was deployed. '}
        {causes?.length === 0 && 'No saga has failed. '}
        {marks.length > 1 && 'Arrow keys move from mark to mark, Enter opens what it stands for.'}
      </p>
      {causes && causes.length > 0 && <CauseList causes={causes} />}
      <TimeLineTables
        span={span}
        deployments={tiers.flatMap((tier) => tier.deployments)}
        bands={bands}
        causes={causes}
        latencies={latencies}
      />
    </figure>
  )
}

/** Returns the width in pixels; 0 until it is known. */
function useWidth(ref: RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(0)
  useEffect(() => {
    const element = ref.current
    if (!element) return
    const observer = new ResizeObserver(() => setWidth(element.clientWidth))
    observer.observe(element)
    return () => observer.disconnect()
  }, [ref])
  return width
}

const shades = { freeze: 'bg-warn-soft', broadcast: 'bg-busy-soft' }

/** The background of all lanes: the times of the bands, the marks of the axis, and now. */
const Backdrop = ({ span, bands, now }: { span: Span; bands: readonly Band[]; now: number }) => (
  <div aria-hidden="true" className="absolute inset-x-0 top-0 bottom-5 -z-10">
    {bands.map(({ key, kind, from, to }) => (
      <div
        key={key}
        className={`absolute inset-y-0 opacity-40 ${shades[kind]}`}
        style={{ left: `${placeIn(span, from)}%`, right: `${100 - placeIn(span, to)}%` }}
      />
    ))}
    {ticksOf(span).map((tick) => (
      <div key={tick} className="absolute inset-y-0 border-l" style={{ left: `${placeIn(span, tick)}%` }} />
    ))}
    <div
      className="absolute inset-y-0 border-l border-dashed border-quiet"
      style={{ left: `${placeIn(span, now)}%` }}
    />
  </div>
)

const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' })
/** Narrow screens have room only for every second mark. */
const isMain = (tick: number) => tick % 2 === 0

const Axis = ({ span }: { span: Span }) => (
  <div aria-hidden="true" className="relative h-5 border-t text-xs text-quiet tabular-nums">
    {ticksOf(span).map((tick, index) => (
      <span
        key={tick}
        title={exactTime(new Date(tick))}
        className={`absolute -translate-x-1/2 ${isMain(index) ? '' : 'hidden sm:inline'}`}
        style={{ left: `clamp(1.1rem, ${placeIn(span, tick)}%, calc(100% - 1.1rem))` }}
      >
        {clock.format(new Date(tick))}
      </span>
    ))}
  </div>
)
