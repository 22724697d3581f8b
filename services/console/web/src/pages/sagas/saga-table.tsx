import { useNavigate } from '@tanstack/react-router'
import { useWindowVirtualizer, type VirtualItem } from '@tanstack/react-virtual'
import { type MouseEvent, memo, type RefObject, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { Badge, State } from '../../components/badge'
import { useNow } from '../../components/time'
import type { Saga } from '../../generated/types.gen'
import { duration, exactTime, sinceNow } from '../../lib/format'

const rowHeight = 45
/** Rows outside of the window that are rendered for the next key or scroll. */
const overscan = 6
/** Number of remaining rows at which the next page is loaded. */
const rowsAhead = 60

const columns = [
  { header: 'Saga', className: 'w-full' },
  { header: 'Status', className: 'w-32 sm:w-64' },
  { header: 'Service', className: 'hidden w-44 md:table-cell' },
  { header: 'Last event', className: 'hidden w-36 sm:table-cell' },
  { header: 'First seen', className: 'hidden w-36 xl:table-cell' },
  { header: 'Duration', className: 'hidden w-28 text-right tabular-nums lg:table-cell' },
] as const

/**
 * The rows of the list. Only those near the window are in the document, so that a list of any length scrolls.
 * All have the same height.
 *
 * @param onNearEnd called when the reader comes near the last row
 */
export function SagaTable({
  ref,
  rows,
  tenant,
  hasMore,
  busy,
  onNearEnd,
}: {
  ref: RefObject<HTMLTableElement | null>
  rows: readonly Saga[]
  tenant: string | undefined
  hasMore: boolean
  busy: boolean
  onNearEnd: () => void
}) {
  const body = useRef<HTMLTableSectionElement>(null)
  const now = useNow()
  const { items, before, after } = useRowsInWindow(rows, body)
  const last = items.at(-1)?.index ?? 0
  const isNearEnd = hasMore && last > rows.length - rowsAhead
  useEffect(() => {
    if (isNearEnd) onNearEnd()
  }, [isNearEnd, onNearEnd])
  return (
    <table
      ref={ref}
      aria-label="Sagas"
      aria-busy={busy || undefined}
      aria-rowcount={hasMore ? -1 : rows.length + 1}
      data-list=""
      className="w-full table-fixed border-collapse text-sm"
    >
      <thead>
        <tr aria-rowindex={1}>
          {columns.map(({ header, className }) => (
            <th
              key={header}
              scope="col"
              className={`sticky top-13 z-10 border-b bg-panel px-3 py-2 text-left font-medium text-quiet ${className}`}
            >
              {header}
            </th>
          ))}
        </tr>
      </thead>
      <tbody ref={body}>
        <Space height={before} />
        {items.map((item) => {
          const saga = rows[item.index]
          return (
            saga && <SagaRow key={saga.saga_id} saga={saga} index={item.index} tenant={tenant} now={now} />
          )
        })}
        <Space height={after} />
      </tbody>
    </table>
  )
}

/** Placeholder for the rows that are not in the document. */
const Space = ({ height }: { height: number }) =>
  height > 0 ? (
    <tr>
      <td colSpan={columns.length} className="p-0" style={{ height }} />
    </tr>
  ) : null

function useRowsInWindow(rows: readonly Saga[], body: RefObject<HTMLTableSectionElement | null>) {
  const [scrollMargin, setScrollMargin] = useState(0)
  useLayoutEffect(() => {
    const measure = () => {
      const top = body.current?.getBoundingClientRect().top ?? 0
      setScrollMargin(Math.round(top + window.scrollY))
    }
    measure()
    // The content above the table changes its height with the width of the window and with its messages.
    const observer = new ResizeObserver(measure)
    observer.observe(document.body)
    return () => observer.disconnect()
  }, [body])
  const virtualizer = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => rowHeight,
    overscan,
    scrollMargin,
    getItemKey: (index) => rows[index]?.saga_id ?? index,
  })
  const items: VirtualItem[] = virtualizer.getVirtualItems()
  const first = items[0]
  const last = items.at(-1)
  return {
    items,
    before: first ? first.start - scrollMargin : 0,
    after: last ? virtualizer.getTotalSize() - (last.end - scrollMargin) : 0,
  }
}

interface RowProps {
  saga: Saga
  index: number
  tenant: string | undefined
  /** The current time, which all rows share, because a clock for each row would keep a live list busy. */
  now: number
}

const SagaRow = memo(function SagaRow({ saga, index, tenant, now }: RowProps) {
  const [, status, service, lastEvent, firstSeen, took] = columns
  return (
    <tr
      data-row=""
      aria-rowindex={index + 2}
      className="h-[45px] border-b focus-within:bg-raised hover:bg-raised"
    >
      <td className="h-[45px] px-3 py-1">
        <div className="truncate leading-5" dir="auto">
          <SagaLink sagaId={saga.saga_id} tenant={tenant} />
        </div>
        <div className="truncate text-xs leading-4 text-quiet" dir="auto">
          <span className="md:hidden">{saga.service_name} </span>
          {saga.tags.join(' · ')}
        </div>
      </td>
      <td className={`overflow-hidden px-3 py-0 ${status.className}`}>
        <div className="max-h-[42px] overflow-hidden">
          <SagaState saga={saga} />
        </div>
      </td>
      <td className={`truncate px-3 py-1 ${service.className}`} dir="auto">
        {saga.service_name ?? <span className="text-quiet">–</span>}
      </td>
      <td className={`px-3 py-1 ${lastEvent.className}`}>
        <RowTime at={saga.last_event_at} now={now} />
      </td>
      <td className={`px-3 py-1 ${firstSeen.className}`}>
        <RowTime at={saga.first_seen_at} now={now} />
      </td>
      <td className={`px-3 py-1 ${took.className}`}>
        {saga.duration_ms === null ? '–' : duration(saga.duration_ms)}
      </td>
    </tr>
  )
})

function RowTime({ at, now }: { at: string; now: number }) {
  const time = new Date(at)
  return (
    <time dateTime={at} title={exactTime(time)} className="whitespace-nowrap tabular-nums">
      {/* The shared time may be older than the newest event. */}
      {sinceNow(time, Math.max(now, time.getTime()))}
    </time>
  )
}

/**
 * A link of a row. The router's own link reacts to every change of the address and rebuilds its own for each
 * row, which takes too long while a list scrolls.
 */
function SagaLink({ sagaId, tenant }: { sagaId: string; tenant: string | undefined }) {
  const navigate = useNavigate()
  const onClick = (event: MouseEvent) => {
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
    event.preventDefault()
    void navigate({ to: '/sagas/$sagaId', params: { sagaId }, search: tenant ? { tenant } : {} })
  }
  const query = tenant ? `?tenant=${encodeURIComponent(tenant)}` : ''
  return (
    <a
      href={`/console/sagas/${encodeURIComponent(sagaId)}${query}`}
      title={sagaId}
      onClick={onClick}
      className="font-medium text-accent hover:underline"
    >
      {sagaId}
    </a>
  )
}

/**
 * Status, outcome and flags of a saga. `succeeded` is the expected outcome of an ended saga, so only the
 * status is shown.
 */
export function SagaState({ saga, wrap }: { saga: Saga; wrap?: boolean }) {
  const kinds = [...new Set(saga.flags.map(({ kind }) => kind))].filter((kind) => kind !== saga.outcome)
  return (
    <span className={`flex flex-wrap gap-x-1 gap-y-px ${wrap ? '' : 'sm:flex-nowrap'}`}>
      <State of={saga.status} />
      {saga.outcome && <State of={saga.outcome} />}
      {kinds.map((kind) => (
        <State key={kind} of={kind} />
      ))}
      {saga.late && <State of="late" />}
      {saga.resolution && <Badge tone="good">resolved</Badge>}
    </span>
  )
}
