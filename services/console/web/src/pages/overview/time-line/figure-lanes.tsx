import { TextLink } from '../../../components/text-link'
import { count, countOf, duration, exactTime } from '../../../lib/format'
import { Lane } from './lane'
import { type Cause, lineOf, type Span, stack } from './time-line-model'
import type { MarkOf } from './use-marks'

const failuresHeight = 96
const latencyHeight = 48
/** Share of the full height from which an area shows its number. */
const numberedMin = 0.18

const colors = ['bad', 'busy', 'warn', 'accent', 'ink']
const colorOf = ({ fingerprint }: Cause, index: number) =>
  `var(--${fingerprint === null ? 'quiet' : (colors[index % colors.length] ?? 'quiet')})`

export const causeKey = ({ fingerprint }: Cause) => `cause ${fingerprint ?? ''}`
export const latencyKey = 'latency'

const timeOf = ({ from, bucketMs }: Span, bucket: number) => exactTime(new Date(from + bucket * bucketMs))

/** Failures by cause as stacked areas. The numbers of the areas are those of `CauseList`. */
export function FailureLane({
  causes,
  span,
  markOf,
}: {
  causes: readonly Cause[]
  span: Span
  markOf: MarkOf
}) {
  const { areas, height } = stack(causes)
  return (
    <Lane
      name="Failures of sagas by cause"
      note={`at most ${count(height)} in ${countOf(span.bucketMs / 60_000, 'minute')}`}
      height={failuresHeight}
    >
      <svg
        viewBox={`0 0 ${span.buckets} ${height}`}
        preserveAspectRatio="none"
        className="absolute inset-0 size-full"
      >
        <title>Failures of sagas by cause</title>
        {areas.map(({ cause, path, peak }, index) => (
          <TextLink
            key={causeKey(cause)}
            to="/failures"
            search={{ fingerprint: cause.fingerprint ?? undefined }}
            aria-label={`${cause.name}: ${countOf(cause.count, 'failure')}, the most, ${count(peak.count)}, at ${timeOf(span, peak.bucket)}`}
            {...markOf(causeKey(cause))}
            className="group outline-none"
          >
            <title>{`${cause.name}: ${countOf(cause.count, 'failure')}`}</title>
            <path
              d={path}
              fill={colorOf(cause, index)}
              stroke="var(--panel)"
              strokeWidth="1"
              vectorEffect="non-scaling-stroke"
              className="group-focus-visible:stroke-ink group-focus-visible:stroke-3"
            />
          </TextLink>
        ))}
      </svg>
      {areas.map(
        ({ cause, peak }, index) =>
          peak.count / height >= numberedMin && (
            <span
              key={causeKey(cause)}
              aria-hidden="true"
              className="pointer-events-none absolute -translate-x-1/2 translate-y-1/2 rounded bg-panel px-1 text-xs leading-4 font-semibold"
              style={{
                left: `clamp(8px, ${((peak.bucket + 0.5) / span.buckets) * 100}%, calc(100% - 8px))`,
                bottom: `${(peak.middle / height) * 100}%`,
              }}
            >
              {index + 1}
            </span>
          ),
      )}
    </Lane>
  )
}

/** The causes of the areas with their numbers. */
export const CauseList = ({ causes }: { causes: readonly Cause[] }) => (
  <ol className="mt-2 grid gap-x-6 text-sm md:grid-cols-2">
    {causes.map((cause, index) => (
      <li key={causeKey(cause)} className="flex min-w-0 items-center gap-2">
        <span className="w-4 text-right font-semibold tabular-nums">{index + 1}</span>
        <span
          aria-hidden="true"
          className="size-3 shrink-0 rounded-sm"
          style={{ background: colorOf(cause, index) }}
        />
        <TextLink
          to="/failures"
          search={{ fingerprint: cause.fingerprint ?? undefined }}
          className="min-w-0 flex-1 truncate leading-[26px]"
          dir="auto"
        >
          {cause.name}
        </TextLink>
        <span className="tabular-nums">{count(cause.count)}</span>
      </li>
    ))}
  </ol>
)

/** The waiting time of the oldest job in all queues. */
export function LatencyLane({
  latencies,
  span,
  markOf,
}: {
  latencies: readonly (number | null)[]
  span: Span
  markOf: MarkOf
}) {
  const longest = Math.max(0, ...latencies.map((latency) => latency ?? 0))
  const height = Math.max(1, longest)
  const label = `Latency of queues: at most ${duration(longest * 1000)}, at ${timeOf(span, latencies.indexOf(longest))}`
  return (
    <Lane name="Latency of queues" note={`at most ${duration(longest * 1000)}`} height={latencyHeight}>
      <TextLink
        to="/queues"
        search={{ range: span.hours === '1' ? 'hour' : 'day' }}
        aria-label={label}
        title={label}
        {...markOf(latencyKey)}
        className="absolute inset-0 border-b"
      >
        <svg
          viewBox={`0 0 ${span.buckets} ${height}`}
          preserveAspectRatio="none"
          className="size-full overflow-visible"
          aria-hidden="true"
        >
          <path
            d={lineOf(latencies, height)}
            fill="none"
            stroke="var(--warn)"
            strokeWidth="2"
            vectorEffect="non-scaling-stroke"
          />
        </svg>
      </TextLink>
    </Lane>
  )
}
