import { useVirtualizer } from '@tanstack/react-virtual'
import { useRef } from 'react'
import { State } from '../../components/badge'
import { Button } from '../../components/button'
import { Empty } from '../../components/states'
import { useNow } from '../../components/time'
import type { SagaDetail, SagaEvent } from '../../generated/types.gen'
import { duration, exactTime } from '../../lib/format'
import type { Lane, TimelineRow } from './timeline-model'
import { timelineOf } from './timeline-model'

/** Number of activities up to which all rows are in the document. */
const allInDocumentMax = 200
const rowHeight = 76
const runningPeriodMs = 1000

/**
 * The activities in order, each with a lane for its execution and one for its compensation. It is a table
 * whose cells describe the lanes in words for screen readers.
 */
export function Timeline({
  saga,
  events,
  chosen,
  onChoose,
}: {
  saga: SagaDetail
  events: readonly SagaEvent[]
  chosen: string | undefined
  onChoose: (activityId: string) => void
}) {
  const now = useNow(saga.ended_at === null ? runningPeriodMs : 60_000)
  const { rows, fromMs, toMs } = timelineOf(saga, events, now)
  const box = useRef<HTMLDivElement>(null)
  const isLong = rows.length > allInDocumentMax
  const virtualizer = useVirtualizer({
    count: rows.length,
    enabled: isLong,
    getScrollElement: () => box.current,
    estimateSize: () => rowHeight,
    overscan: 8,
  })
  if (rows.length === 0) {
    return <Empty title="No activity yet">Activities appear here as soon as they are reported.</Empty>
  }
  const items = virtualizer.getVirtualItems()
  const shown = isLong ? rows.slice(items[0]?.index ?? 0, (items.at(-1)?.index ?? -1) + 1) : rows
  const before = isLong ? (items[0]?.start ?? 0) : 0
  const after = isLong ? virtualizer.getTotalSize() - (items.at(-1)?.end ?? 0) : 0
  return (
    <div
      ref={box}
      tabIndex={isLong ? 0 : undefined}
      className={isLong ? 'max-h-[70dvh] overflow-y-auto' : ''}
    >
      <table
        aria-label="Activities"
        aria-rowcount={rows.length + 1}
        data-list=""
        className="w-full table-fixed border-collapse text-sm"
      >
        <thead className="text-left text-quiet">
          <tr aria-rowindex={1} className="border-b">
            <th scope="col" className="w-36 px-3 py-2 font-medium sm:w-56">
              Activity
            </th>
            <th scope="col" className="px-3 py-2 font-medium">
              <span className="flex flex-wrap justify-between gap-x-3">
                <span title={exactTime(new Date(fromMs))}>Execute, compensate</span>
                <span className="tabular-nums">{duration(toMs - fromMs)}</span>
              </span>
            </th>
          </tr>
        </thead>
        <tbody>
          <Space height={before} />
          {shown.map((row, index) => (
            <ActivityRow
              key={row.activity.activity_id}
              row={row}
              index={(items[0]?.index ?? 0) + index}
              measure={isLong ? virtualizer.measureElement : undefined}
              isChosen={row.activity.activity_id === chosen}
              onChoose={onChoose}
            />
          ))}
          <Space height={after} />
        </tbody>
      </table>
    </div>
  )
}

const Space = ({ height }: { height: number }) =>
  height > 0 ? (
    <tr>
      <td colSpan={2} className="p-0" style={{ height }} />
    </tr>
  ) : null

function ActivityRow({
  row,
  index,
  measure,
  isChosen,
  onChoose,
}: {
  row: TimelineRow
  index: number
  /** Measures the height of the row. Undefined in a short list, which shows all of its rows. */
  measure: ((row: HTMLTableRowElement | null) => void) | undefined
  isChosen: boolean
  onChoose: (activityId: string) => void
}) {
  const { activity, execute, compensate, isOverdue } = row
  return (
    <tr
      data-row=""
      ref={measure}
      data-index={index}
      aria-rowindex={index + 2}
      className={`border-b last:border-0 focus-within:bg-raised hover:bg-raised ${isChosen ? 'bg-accent-soft' : ''}`}
    >
      <th scope="row" className="px-1 py-1.5 text-left align-top font-normal">
        <Button
          look="quiet"
          aria-pressed={isChosen}
          title={activity.activity_id}
          onClick={() => onChoose(activity.activity_id)}
          className="max-w-full justify-start"
        >
          <span className="truncate" dir="auto">
            {activity.activity_id}
          </span>
        </Button>
        <span className="flex flex-wrap gap-1 px-3 text-xs text-quiet">
          {activity.order !== null && <span>Step {activity.order}</span>}
          {isOverdue && <State of="overdue" />}
          {activity.compensation_given_up && <span className="text-bad">given up</span>}
          {activity.anomalies.map((anomaly) => (
            <span key={anomaly} className="text-bad">
              {anomaly.replaceAll('_', ' ')}
            </span>
          ))}
        </span>
      </th>
      <td className="px-3 py-2 align-top">
        <LaneView name="Execution" lane={execute} deadline={row.deadline} />
        <LaneView name="Compensation" lane={compensate} deadline={undefined} />
      </td>
    </tr>
  )
}

const fills: Record<string, string> = {
  Executed: 'bg-good',
  Executing: 'bg-busy',
  Compensating: 'bg-busy',
  Compensated: 'bg-warn',
  Overtime: 'bg-warn',
  Revoked: 'bg-quiet',
  ExecuteAborted: 'bg-bad',
  CompensateAborted: 'bg-bad',
}

function LaneView({ name, lane, deadline }: { name: string; lane: Lane; deadline: number | undefined }) {
  const { status, attempts, durationMs, bar, marks } = lane
  if (status === null) return null
  const isPast = deadline !== undefined && bar !== undefined && bar.left + bar.width > deadline
  return (
    <div className="grid gap-x-3 gap-y-0.5 py-0.5 md:grid-cols-[1fr_19rem] md:items-center">
      <div aria-hidden="true" className="relative h-3 rounded bg-raised ring-1 ring-line">
        {bar && (
          <span
            className={`absolute inset-y-0 min-w-1 rounded ${fills[status] ?? 'bg-quiet'} ${bar.isOpen ? 'motion-safe:animate-pulse' : ''}`}
            style={{ left: `${bar.left}%`, width: `${bar.width}%` }}
          />
        )}
        {marks.map(({ at, text }, index) => (
          <span
            key={index}
            title={text}
            className="absolute -inset-y-0.5 w-1 -translate-x-1/2 rounded bg-bad ring-1 ring-panel"
            style={{ left: `${at}%` }}
          />
        ))}
        {deadline !== undefined && (
          <span
            title="Deadline"
            className="absolute -inset-y-1 w-0 border-l-2 border-dotted border-ink"
            style={{ left: `${deadline}%` }}
          />
        )}
      </div>
      <div className="flex flex-wrap items-center gap-x-2 gap-y-0.5 text-xs">
        <span className="sr-only">{name}: </span>
        <State of={status} />
        <span className="whitespace-nowrap tabular-nums">
          {durationMs === null ? '' : duration(durationMs)}
        </span>
        {attempts > 1 && <span className="font-medium whitespace-nowrap text-warn">attempt {attempts}</span>}
        {isPast && <span className="text-warn">past its deadline</span>}
      </div>
    </div>
  )
}
