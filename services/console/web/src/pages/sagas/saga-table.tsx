import { useWindowVirtualizer, type VirtualItem } from '@tanstack/react-virtual'
import { type RefObject, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { Badge, State } from '../../components/badge'
import { TextLink } from '../../components/text-link'
import { Time } from '../../components/time'
import type { Saga } from '../../generated/types.gen'
import { duration } from '../../lib/format'

const rowHeight = 45
/** Rows beyond the window that stand ready for the next key or turn of the wheel. */
const overscan = 12
/** The next page is loaded when so many rows are left. */
const rowsAhead = 60

const columns = [
  { header: 'Saga', className: 'w-full' },
  { header: 'Status', className: 'w-28 sm:w-64' },
  { header: 'Service', className: 'hidden w-44 md:table-cell' },
  { header: 'Last event', className: 'hidden w-36 sm:table-cell' },
  { header: 'First seen', className: 'hidden w-36 xl:table-cell' },
  { header: 'Duration', className: 'hidden w-28 text-right tabular-nums lg:table-cell' },
] as const

/**
 * The rows of the list, of which only those near the window are in the document, so that a list of any length scrolls. All have
 * one height.
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
          return saga && <SagaRow key={saga.saga_id} saga={saga} index={item.index} tenant={tenant} />
        })}
        <Space height={after} />
      </tbody>
    </table>
  )
}

/** Stands for the rows that are not in the document. */
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
    // What stands above the table changes its height with the width of the window and with what is told there.
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

function SagaRow({ saga, index, tenant }: { saga: Saga; index: number; tenant: string | undefined }) {
  const [, status, service, lastEvent, firstSeen, took] = columns
  return (
    <tr
      data-row=""
      aria-rowindex={index + 2}
      className="h-[45px] border-b focus-within:bg-raised hover:bg-raised"
    >
      <td className="h-[45px] px-3 py-1">
        <div className="truncate leading-5" dir="auto">
          <TextLink
            to="/sagas/$sagaId"
            params={{ sagaId: saga.saga_id }}
            search={tenant ? { tenant } : {}}
            title={saga.saga_id}
            className="font-medium"
            preload={false}
          >
            {saga.saga_id}
          </TextLink>
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
        <Time at={saga.last_event_at} />
      </td>
      <td className={`px-3 py-1 ${firstSeen.className}`}>
        <Time at={saga.first_seen_at} />
      </td>
      <td className={`px-3 py-1 ${took.className}`}>
        {saga.duration_ms === null ? '–' : duration(saga.duration_ms)}
      </td>
    </tr>
  )
}

/** Status, outcome and flags of a saga. `succeeded` is what an ended saga is expected to say, so it stands alone. */
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
