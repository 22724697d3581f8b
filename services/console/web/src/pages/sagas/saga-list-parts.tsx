import type { RefObject } from 'react'
import { Button } from '../../components/button'
import { Empty, Loading, Problem } from '../../components/states'
import { count } from '../../lib/format'
import { SagaTable } from './saga-table'
import type { LiveSagas } from './use-live-sagas'

/** Shows whether the list follows the log. */
export const LiveStatus = ({ list: { stream } }: { list: LiveSagas }) => (
  <span role="status" className="text-sm text-quiet">
    {stream === 'reconnecting' && 'Reconnecting…'}
    {stream === 'live' && (
      <span className="inline-flex items-center gap-1.5">
        <span aria-hidden="true" className="size-2 rounded-full bg-good" />
        Live
      </span>
    )}
    {stream === 'ended' && 'No live updates: the session has ended'}
  </span>
)

/** The number of new sagas that wait until the reader shows them. It stays visible while the list scrolls. */
export function Waiting({ list }: { list: LiveSagas }) {
  if (list.waiting === 0) return null
  const show = () => {
    list.showWaiting()
    window.scrollTo({ top: 0 })
  }
  return (
    <div className="pointer-events-none sticky top-14 z-20 flex h-0 justify-center">
      <Button look="primary" className="pointer-events-auto -mt-2 h-fit shadow-lg" onClick={show}>
        {count(list.waiting)} new
      </Button>
    </div>
  )
}

/** The sagas, or the reason why there are none. */
export function SagaRows({
  list,
  table,
  tenant,
  isFiltered,
}: {
  list: LiveSagas
  table: RefObject<HTMLTableElement | null>
  tenant: string | undefined
  isFiltered: boolean
}) {
  const { rows, error, isPending, hasMore, isLoadingMore, loadMore } = list
  if (rows.length === 0) {
    return (
      <div className="rounded-lg border bg-panel">
        {error ? (
          <Problem error={error} retry={list.reload} />
        ) : isPending ? (
          <Loading />
        ) : (
          <None isFiltered={isFiltered} />
        )}
      </div>
    )
  }
  return (
    <>
      {error !== null && <Problem error={error} retry={hasMore ? loadMore : list.reload} />}
      <div className="rounded-lg border bg-panel">
        <SagaTable
          ref={table}
          rows={rows}
          tenant={tenant}
          hasMore={hasMore}
          busy={isLoadingMore}
          // After a failure, pages are no longer loaded ahead; the reader retries.
          onNearEnd={error === null ? loadMore : ignore}
        />
        <div className="flex items-center justify-between gap-3 px-4 py-2 text-sm text-quiet">
          <span>
            {count(rows.length)} shown{hasMore ? '' : ', all there are'}
          </span>
          {hasMore && (
            <Button disabled={isLoadingMore} onClick={loadMore}>
              Load more
            </Button>
          )}
        </div>
      </div>
    </>
  )
}

const ignore = () => {}

const None = ({ isFiltered }: { isFiltered: boolean }) =>
  isFiltered ? (
    <Empty title="No saga fits these filters">Clear a filter, or search for another text.</Empty>
  ) : (
    <Empty title="No saga has been reported yet">
      Report one with <code className="font-mono">@switchyard/saga-client</code>, over gRPC, or with{' '}
      <code className="font-mono">POST /api/v4/saga_events</code>; it appears here at once. The page Docs
      shows how.
    </Empty>
  )
