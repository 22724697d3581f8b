import { sagaStatuses } from '@switchyard/domain/saga-status'
import { getRouteApi } from '@tanstack/react-router'
import { type RefObject, useCallback, useMemo, useRef, useState } from 'react'
import type { Query } from '../../api/client'
import { useMay } from '../../api/session'
import { Button } from '../../components/button'
import { guarded } from '../../components/guarded'
import { Page } from '../../components/page'
import { ButtonLink } from '../../components/text-link'
import { oneOf } from '../../lib/search-params'
import { BulkDialogs, type BulkRequest, canResolve, isEmpty } from './bulk-dialogs'
import { ExportLink } from './export-link'
import { filterNames, filterOf, type SagaSearch, sortQuery } from './saga-filter'
import { type ChangeSearch, SagaFilters } from './saga-filters'
import { LiveStatus, SagaRows, Waiting } from './saga-list-parts'
import { SavedViews } from './saved-views'
import { StatusChoice, useStatusCounts } from './status-counts'
import { type LiveSagas, useLiveSagas } from './use-live-sagas'
import { useSearchMeaning } from './use-search-meaning'

const route = getRouteApi('/sagas')
const countsPeriodMs = 5000
/** Scroll distance within which a list counts as shown from its top. */
const topPx = 40

export const SagaListPage = guarded('sagas', SagaList)

function SagaList() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const table = useRef<HTMLTableElement>(null)
  const [isPaused, setIsPaused] = useState(false)
  const [request, setRequest] = useState<BulkRequest>()
  const { meaning, filter, counts, list } = useListedSagas(search, isPaused, table)
  const change = useCallback(
    (changed: Partial<SagaSearch>) =>
      void navigate({ search: (before) => ({ ...before, view: undefined, ...changed }), resetScroll: false }),
    [navigate],
  )
  const showJob = (job: string | undefined) => {
    void navigate({
      search: (before) => ({ ...before, job }),
      resetScroll: false,
      replace: job === undefined,
    })
    if (job === undefined) list.showWaiting()
  }
  return (
    <Page
      title="Sagas"
      actions={
        <Actions
          list={list}
          isPaused={isPaused}
          setIsPaused={setIsPaused}
          exported={{ tenant: search.tenant, ...filter }}
          tenant={search.tenant}
          may={{
            resolve: !meaning.isDeciding && canResolve(filter),
            note: !meaning.isDeciding && !isEmpty(filter),
          }}
          onBulk={(action) => setRequest({ action, filter })}
        />
      }
    >
      <SagaFilters search={search} meaning={meaning} onChange={change} />
      <StatusBar search={search} counts={counts} onChange={change} />
      <Waiting list={list} />
      <SagaRows list={list} table={table} tenant={search.tenant} isFiltered={isFiltered(search)} />
      <BulkDialogs
        tenant={search.tenant}
        request={request}
        onRequest={setRequest}
        job={search.job}
        onJob={showJob}
      />
    </Page>
  )
}

const isFiltered = (search: SagaSearch) => filterNames.some((name) => search[name] !== undefined)

/** Reads the list and its counts for the address. */
function useListedSagas(search: SagaSearch, isPaused: boolean, table: RefObject<HTMLTableElement | null>) {
  const meaning = useSearchMeaning(search)
  const { kind, isDeciding } = meaning
  const filter = useStable(filterOf(search, kind))
  const counted = useStable<Query>({ tenant: search.tenant, ...filter })
  const listed = useStable<Query>({ ...counted, ...sortQuery(search) })
  const counts = useStatusCounts(counted, !isDeciding)
  const list = useLiveSagas({
    filter: listed,
    enabled: !isDeciding,
    paused: isPaused,
    isReading: () => window.scrollY > topPx || (table.current?.contains(document.activeElement) ?? false),
    onEvents() {
      if (!isPaused && Date.now() - counts.dataUpdatedAt > countsPeriodMs)
        void counts.refetch({ cancelRefetch: false })
    },
  })
  return { meaning, filter, counts: counts.data, list }
}

/** Returns the same object as long as its content is the same. */
function useStable<Value extends object>(value: Value): Value {
  const text = JSON.stringify(value)
  return useMemo(() => value, [text])
}

const pressedClass = 'aria-pressed:border-accent aria-pressed:bg-accent-soft aria-pressed:text-accent'

/** @param may the allowed actions on all sagas of the filter */
function Actions({
  list,
  isPaused,
  setIsPaused,
  exported,
  tenant,
  may,
  onBulk,
}: {
  list: LiveSagas
  isPaused: boolean
  setIsPaused: (isPaused: boolean) => void
  exported: Query
  tenant: string | undefined
  may: Record<BulkRequest['action'], boolean>
  onBulk: (action: BulkRequest['action']) => void
}) {
  const mayChange = useMay('sagas.change')
  const maySeeWebhooks = useMay('sagas.webhooks')
  return (
    <>
      <LiveStatus list={list} />
      <Button aria-pressed={isPaused} onClick={() => setIsPaused(!isPaused)} className={pressedClass}>
        Pause updates
      </Button>
      <ExportLink query={exported} />
      <ButtonLink to="/bulk-jobs" search={{ tenant }}>
        Bulk jobs
      </ButtonLink>
      <ButtonLink to="/commands" search={{ tenant }}>
        Commands
      </ButtonLink>
      {maySeeWebhooks && (
        <ButtonLink to="/saga-webhooks" search={{ tenant }}>
          Webhooks
        </ButtonLink>
      )}
      {mayChange && (
        <>
          <Button
            disabled={!may.note}
            title={may.note ? undefined : 'Choose a filter first'}
            onClick={() => onBulk('note')}
          >
            Note on all…
          </Button>
          <Button
            disabled={!may.resolve}
            title={
              may.resolve ? undefined : 'Choose a filter first; only sagas in status Error can be resolved'
            }
            onClick={() => onBulk('resolve')}
          >
            Resolve all…
          </Button>
        </>
      )}
    </>
  )
}

/** The statuses with their counts, and the saved views. */
function StatusBar({
  search,
  counts,
  onChange,
}: {
  search: SagaSearch
  counts: ReadonlyMap<string, string> | undefined
  onChange: ChangeSearch
}) {
  // Every user of the API can store views, but a token with only the scopes of sagas cannot.
  const mayKeepViews = useMay('projects')
  return (
    <div className="mb-3 flex flex-wrap items-center gap-2">
      <StatusChoice
        value={oneOf(sagaStatuses, search.status)}
        counts={counts}
        onChange={(status) => onChange({ status })}
      />
      {isFiltered(search) && (
        <Button
          look="quiet"
          onClick={() => onChange(Object.fromEntries(filterNames.map((name) => [name, undefined])))}
        >
          Clear filters
        </Button>
      )}
      <span className="flex-1" />
      {mayKeepViews && <SavedViews search={search} />}
    </div>
  )
}
