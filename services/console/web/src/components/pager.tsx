import { count } from '../lib/format'
import { Button } from './button'

/** Moves through numbered pages. Nothing is shown when there is one page only. */
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
 * Moves through a list whose pages are named by what they begin after, so that new rows at its begin repeat
 * none. Back in the browser is the way to the page before.
 *
 * @param token of the page that is shown; unset: the first
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
