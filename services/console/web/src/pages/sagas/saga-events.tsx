import type { ReactNode } from 'react'
import { Badge, type Tone } from '../../components/badge'
import { Button } from '../../components/button'
import { CopyButton } from '../../components/copy-button'
import { type Column, DataTable } from '../../components/data-table'
import { Empty } from '../../components/states'
import { Time } from '../../components/time'
import type { SagaEvent } from '../../generated/types.gen'
import { bytes, countOf, duration } from '../../lib/format'

const tones: Record<string, Tone> = { recorded: 'plain', 'conflict recorded': 'bad' }

/**
 * The log in order.
 *
 * @param onChoose shows an activity in the other parts of the page
 */
export function SagaEvents({
  events,
  hasMore,
  isLoadingMore,
  loadMore,
  onChoose,
}: {
  events: readonly SagaEvent[]
  hasMore: boolean
  isLoadingMore: boolean
  loadMore: () => void
  onChoose: (activityId: string) => void
}) {
  const firstMs = Date.parse(events[0]?.received_at ?? '')
  const activityOf = ({ activity_id }: SagaEvent) =>
    activity_id !== null && (
      <button
        type="button"
        title={activity_id}
        dir="auto"
        className="block max-w-60 truncate text-accent hover:underline"
        onClick={() => onChoose(activity_id)}
      >
        {activity_id}
      </button>
    )
  const resultOf = ({ result }: SagaEvent) => <Badge tone={tones[result] ?? 'warn'}>{result}</Badge>
  const columns: Column<SagaEvent>[] = [
    { header: 'Received', cell: ({ received_at }) => <Time at={received_at} /> },
    {
      header: 'Since the first',
      numeric: true,
      wide: true,
      cell: ({ received_at }) => `+${duration(Date.parse(received_at) - firstMs)}`,
    },
    {
      header: 'Event',
      cell: (event) => (
        <>
          <Details event={event} />
          {/* On narrow screens, these two have no columns. */}
          <div className="md:hidden">
            {activityOf(event)}
            {event.result !== 'recorded' && resultOf(event)}
          </div>
        </>
      ),
    },
    { header: 'Activity', wide: true, cell: activityOf },
    { header: 'Taken as', wide: true, cell: resultOf },
    { header: 'Position', numeric: true, wide: true, cell: ({ seq }) => seq },
  ]
  return (
    <>
      <DataTable
        label="Events"
        rows={events}
        rowKey={({ seq }) => seq}
        columns={columns}
        busy={isLoadingMore}
        empty={
          <Empty title="No event in the log">
            The log of this saga has been deleted, as the time for which logs are kept has passed.
          </Empty>
        }
      />
      <div className="flex flex-wrap items-center gap-3 border-t px-4 py-2 text-sm text-quiet">
        <span className="flex-1">
          {countOf(events.length, 'event')} shown{hasMore ? '' : ', all there are'}
        </span>
        <CopyButton label="Copy events" text={() => JSON.stringify(events, null, 2)} />
        {hasMore && (
          <Button disabled={isLoadingMore} onClick={loadMore}>
            Load more
          </Button>
        )}
      </div>
    </>
  )
}

/** The operation, and on demand the data that its reporter sent. */
function Details({ event }: { event: SagaEvent }) {
  const { operation, request, event_id, event_time, event_seq, attempt } = event
  const facts: [string, ReactNode][] = [
    ['Event id', event_id],
    ['Event time', event_time && <Time at={event_time} absolute />],
    ['Number of the reporter', event_seq],
    ['Attempt', attempt],
    ['Trace', event.trace_parent && <Trace event={event} />],
    ['Size', bytes(event.request_size)],
  ]
  return (
    <details>
      <summary className="rounded font-medium">{operation}</summary>
      <dl className="my-2 grid grid-cols-[auto_1fr] gap-x-4 gap-y-0.5">
        {facts
          .filter(([, value]) => value !== null)
          .map(([name, value]) => (
            <div key={name} className="contents">
              <dt className="text-quiet">{name}</dt>
              <dd dir="auto" className="break-all">
                {value}
              </dd>
            </div>
          ))}
      </dl>
      {request && (
        <pre
          dir="auto"
          className="max-h-72 max-w-xl overflow-auto rounded-md bg-raised p-2 font-mono text-xs whitespace-pre-wrap"
        >
          {JSON.stringify(request, null, 2)}
        </pre>
      )}
    </details>
  )
}

/** The trace as its reporter named it, with a link where a trace viewer is configured. */
function Trace({ event: { trace_parent, trace_url } }: { event: SagaEvent }) {
  const name = <code className="font-mono break-all">{trace_parent}</code>
  if (trace_url === null || !/^https?:/.test(trace_url)) return name
  return (
    <a href={trace_url} rel="noopener noreferrer" className="text-accent hover:underline">
      {name}
    </a>
  )
}
