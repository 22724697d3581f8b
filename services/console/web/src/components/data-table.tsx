import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { Page } from '../api/client'
import { Pager } from './pager'
import { Shown } from './states'

export interface Column<Row> {
  header: string
  cell: (row: Row) => ReactNode
  /** Whether the column has numbers, which are aligned to the right. */
  numeric?: boolean
  /** Whether the column is hidden on narrow screens. */
  wide?: boolean
  /** Whether, on narrow screens, the cell is below the other cells of its row, with its header. */
  below?: boolean
}

interface TableProps<Row> {
  /** The accessible name of the table. */
  label: string
  columns: Column<Row>[]
  rows: readonly Row[]
  rowKey: (row: Row) => string | number
  /** Content in place of a table without rows. */
  empty?: ReactNode
  busy?: boolean | undefined
}

/**
 * A table of rows. `j` and `k` move the focus between rows, to the first link or button of each; Enter opens
 * the link.
 */
export function DataTable<Row>({ label, columns, rows, rowKey, empty, busy }: TableProps<Row>) {
  if (rows.length === 0 && empty) return <div aria-busy={busy || undefined}>{empty}</div>
  const isFolded = columns.some(({ below }) => below)
  const folded = isFolded ? 'max-md:grid max-md:grid-cols-subgrid max-md:col-span-full' : ''
  const beside = columns.filter(({ wide, below }) => !wide && !below).length
  return (
    <div className="overflow-x-auto px-2 md:px-0">
      <table
        aria-label={label}
        aria-busy={busy || undefined}
        data-list=""
        className={`w-full border-collapse text-sm ${isFolded ? 'max-md:grid' : ''}`}
        style={isFolded ? { gridTemplateColumns: `repeat(${beside}, auto)` } : undefined}
      >
        <thead className={folded}>
          <tr className={`border-b text-left text-quiet ${folded}`}>
            {columns.map((column) => (
              <th
                key={column.header}
                scope="col"
                className={`${cellClass} font-medium ${classOf(column)} ${column.below ? 'max-md:sr-only' : ''}`}
              >
                {column.header}
              </th>
            ))}
          </tr>
        </thead>
        <tbody className={folded}>
          {rows.map((row) => (
            <tr
              key={rowKey(row)}
              data-row=""
              className={`border-b last:border-0 focus-within:bg-raised hover:bg-raised ${folded}`}
            >
              {columns.map((column) => (
                <Cell key={column.header} column={column} row={row} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Cell<Row>({ column, row }: { column: Column<Row>; row: Row }) {
  const { below, header, cell } = column
  const place = below ? 'max-md:order-1 max-md:col-span-full max-md:pt-0' : ''
  return (
    <td className={`${cellClass} min-w-20 align-baseline ${classOf(column)} ${place}`}>
      {below && (
        <div className="text-quiet md:hidden" aria-hidden="true">
          {header}
        </div>
      )}
      {cell(row)}
    </td>
  )
}

// Columns are closer together on narrow screens.
const cellClass = 'px-2 py-2 md:px-4'

const classOf = <Row,>({ numeric, wide }: Column<Row>) =>
  `${numeric ? 'text-right whitespace-nowrap tabular-nums' : 'xl:min-w-32'} ${wide ? 'hidden md:table-cell' : ''}`

/**
 * The table of a numbered page of a list, with links to other pages. It is busy while it still shows the
 * previous page.
 */
export const PagedTable = <Row,>({
  query,
  page,
  onMove,
  ...table
}: Omit<TableProps<Row>, 'rows' | 'busy'> & {
  query: UseQueryResult<Page<Row>>
  page: number
  onMove: (page: number) => void
}) => (
  <Shown query={query}>
    {({ rows, total, nextPage }) => (
      <>
        <DataTable {...table} rows={rows} busy={query.isPlaceholderData} />
        <Pager page={page} nextPage={nextPage} total={total} onMove={onMove} />
      </>
    )}
  </Shown>
)

/** Moves the focus to the next or previous row of the page's first list. */
export function moveInList(step: 1 | -1): boolean {
  const rows = [...document.querySelectorAll<HTMLElement>('main [data-list] [data-row]')]
  if (rows.length === 0) return false
  const current = rows.findIndex((row) => row.contains(document.activeElement))
  const next = rows[Math.min(rows.length - 1, Math.max(0, current === -1 ? 0 : current + step))]
  next?.querySelector<HTMLElement>('a, button')?.focus()
  return true
}
