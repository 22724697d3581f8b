import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { type ReactNode, type RefObject, useEffect, useLayoutEffect, useRef, useState } from 'react'

/** Number of rows up to which all are in the document, where the browser's own search finds them. */
const plainRowsMax = 400
const rowHeight = 24
const rowsAround = 20

interface RowListProps {
  count: number
  row: (index: number) => ReactNode
  /**
   * The row to scroll to, from 0; below 0: none. A short list does not scroll, because all its rows are in
   * the document.
   */
  target?: number
}

/** Rows that scroll with the page. Only those near the visible part of a long list are in the document. */
export function RowList({ count, row, target = -1 }: RowListProps) {
  if (count > plainRowsMax) return <VirtualRows count={count} row={row} target={target} />
  return Array.from({ length: count }, (_, index) => row(index))
}

function VirtualRows({ count, row, target }: Required<RowListProps>) {
  const ref = useRef<HTMLDivElement>(null)
  const top = useTopOf(ref)
  const virtualizer = useWindowVirtualizer({
    count,
    estimateSize: () => rowHeight,
    overscan: rowsAround,
    scrollMargin: top,
    useFlushSync: false,
  })
  useEffect(() => {
    if (target >= 0 && top > 0) virtualizer.scrollToIndex(target, { align: 'center' })
  }, [virtualizer, target, top])
  const items = virtualizer.getVirtualItems()
  const start = (items[0]?.start ?? top) - top
  return (
    <div ref={ref} className="relative" style={{ height: virtualizer.getTotalSize() }}>
      <div className="absolute inset-x-0 top-0" style={{ transform: `translateY(${start}px)` }}>
        {items.map((item) => (
          <div key={item.key} ref={virtualizer.measureElement} data-index={item.index}>
            {row(item.index)}
          </div>
        ))}
      </div>
    </div>
  )
}

/** Returns the position of the element in the page, which moves when content above it grows. */
function useTopOf(ref: RefObject<HTMLElement | null>): number {
  const [top, setTop] = useState(0)
  useLayoutEffect(() => {
    const measure = () => {
      if (ref.current) setTop(Math.round(ref.current.getBoundingClientRect().top + window.scrollY))
    }
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(document.body)
    return () => observer.disconnect()
  }, [ref])
  return top
}
