import { getRouteApi } from '@tanstack/react-router'
import { useCallback, useMemo, useRef, useState } from 'react'
import { addressOf } from '../../api/client'
import { useMay } from '../../api/session'
import { Button, buttonClass } from '../../components/button'
import { guarded } from '../../components/guarded'
import { Page } from '../../components/page'
import { Empty, Loading, Problem } from '../../components/states'
import { count } from '../../lib/format'
import { oneOf } from '../../lib/search-params'
import { BulkJobDialog, BulkResolve, canResolve } from './bulk-resolve'
import { filterNames, filterOf, type SagaSearch, sagaStatuses, sortQuery } from './saga-filter'
import { SagaFilters } from './saga-filters'
import { SagaTable } from './saga-table'
import { StatusChoice, useStatusCounts } from './status-counts'
import { type LiveSagas, useLiveSagas } from './use-live-sagas'
import { useSearchKind } from './use-search-kind'

const route = getRouteApi('/sagas')
const countsPeriodMs = 5000
/** A list that is scrolled by less than this is still seen from its top. */
const topPx = 40

export const SagaListPage = guarded('sagas', SagaList)

function SagaList() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const mayChange = useMay('sagas.change')
  const table = useRef<HTMLTableElement>(null)
  const [isPaused, setIsPaused] = useState(false)
  const [isResolving, setIsResolving] = useState(false)
  const { kind, isDeciding } = useSearchKind(search)
  const filter = useStable(filterOf(search, kind))
  const listed = useStable({ tenant: search.tenant, ...filter, ...sortQuery(search) })
  const counted = useStable({ tenant: search.tenant, ...filter })
  const counts = useStatusCounts(counted, !isDeciding)
  const onEvents = () => {
    if (!isPaused && Date.now() - counts.dataUpdatedAt > countsPeriodMs)
      void counts.refetch({ cancelRefetch: false })
  }
  const list = useLiveSagas({
    filter: listed,
    enabled: !isDeciding,
    paused: isPaused,
    isReading: () => window.scrollY > topPx || (table.current?.contains(document.activeElement) ?? false),
    onEvents,
  })
  const change = useCallback(
    (changed: Partial<SagaSearch>) =>
      void navigate({ search: (before) => ({ ...before, view: undefined, ...changed }), resetScroll: false }),
    [navigate],
  )
  const showJob = (job: string | undefined) =>
    void navigate({
      search: (before) => ({ ...before, job }),
      resetScroll: false,
      replace: job === undefined,
    })
  const isFiltered = filterNames.some((name) => search[name] !== undefined)
  return (
    <Page
      title="Sagas"
      actions={
        <>
          <LiveStatus list={list} />
          <Button aria-pressed={isPaused} onClick={() => setIsPaused(!isPaused)} className={pressedClass}>
            Pause updates
          </Button>
          <a
            className={buttonClass()}
            href={addressOf('/sagas/export', { ...counted, format: 'csv' })}
            download
          >
            Export as CSV
          </a>
          {mayChange && (
            <Button
              disabled={isDeciding || !canResolve(filter)}
              title={
                canResolve(filter)
                  ? undefined
                  : 'Choose a filter first; only sagas in status Error can be resolved'
              }
              onClick={() => setIsResolving(true)}
            >
              Resolve all…
            </Button>
          )}
        </>
      }
    >
      <SagaFilters search={search} kind={kind} isDeciding={isDeciding} onChange={change} />
      <div className="mb-3 flex flex-wrap items-center gap-2">
        <StatusChoice
          value={oneOf(sagaStatuses, search.status)}
          counts={counts.data}
          onChange={(status) => change({ status })}
        />
        {isFiltered && (
          <Button
            look="quiet"
            onClick={() => change(Object.fromEntries(filterNames.map((name) => [name, undefined])))}
          >
            Clear filters
          </Button>
        )}
      </div>
      <Waiting list={list} />
      <Rows list={list} table={table} tenant={search.tenant} isFiltered={isFiltered} />
      {isResolving && (
        <BulkResolve
          tenant={search.tenant}
          filter={filter}
          onStarted={({ id }) => {
            setIsResolving(false)
            showJob(String(id))
          }}
          onClose={() => setIsResolving(false)}
        />
      )}
      {search.job && (
        <BulkJobDialog
          tenant={search.tenant}
          id={search.job}
          onClose={() => {
            showJob(undefined)
            list.showWaiting()
          }}
        />
      )}
    </Page>
  )
}

const pressedClass = 'aria-pressed:border-accent aria-pressed:bg-accent-soft aria-pressed:text-accent'

/** The same object as long as its content is the same. */
function useStable<Value extends object>(value: Value): Value {
  const text = JSON.stringify(value)
  return useMemo(() => value, [text])
}

const LiveStatus = ({ list: { stream } }: { list: LiveSagas }) => (
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

/** New sagas that wait until the reader asks for them. It stays in sight while the list is scrolled. */
function Waiting({ list }: { list: LiveSagas }) {
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

function Rows({
  list,
  table,
  tenant,
  isFiltered,
}: {
  list: LiveSagas
  table: React.RefObject<HTMLTableElement | null>
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
          // A failure stops the loading ahead; the reader asks again.
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
