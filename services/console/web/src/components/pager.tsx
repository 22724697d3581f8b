import { count } from '../lib/format'
import { Button } from './button'

/** Links to numbered pages; nothing when there is only one page. */
export function Pager({
  page,
  nextPage,
  total,
  onMove,
}: {
  page: number
  nextPage: number | undefined
  total: number | undefined
  onMove: (page: number) => void
}) {
  if (page === 1 && nextPage === undefined) return null
  return (
    <nav aria-label="Pages" className="flex items-center justify-between gap-3 border-t px-4 py-2 text-sm">
      <span className="text-quiet">
        Page {page}
        {total === undefined ? '' : ` · ${count(total)} in all`}
      </span>
      <span className="flex gap-2">
        <Button disabled={page <= 1} onClick={() => onMove(page - 1)}>
          Previous
        </Button>
        <Button disabled={nextPage === undefined} onClick={() => onMove(nextPage ?? page)}>
          Next
        </Button>
      </span>
    </nav>
  )
}

/**
 * Links through a list whose pages begin after an item, so that new rows at its start do not repeat others.
 * The browser's Back leads to the previous page.
 *
 * @param token token of the current page; unset: the first page
 */
export function TokenPager({
  token,
  nextToken,
  onMove,
}: {
  token: string | undefined
  nextToken: string | undefined
  onMove: (token: string | undefined) => void
}) {
  if (token === undefined && nextToken === undefined) return null
  return (
    <nav aria-label="Pages" className="flex items-center justify-end gap-2 border-t px-4 py-2 text-sm">
      <Button disabled={token === undefined} onClick={() => onMove(undefined)}>
        First
      </Button>
      <Button disabled={nextToken === undefined} onClick={() => onMove(nextToken)}>
        Next
      </Button>
    </nav>
  )
}
