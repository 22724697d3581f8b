import { type InfiniteData, type QueryKey, useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { useEffectEvent, useMemo, useRef, useState } from 'react'
import { getPage, type Page, type Query } from '../../api/client'
import type { Saga } from '../../generated/types.gen'
import { type StreamState, useEventStream } from '../../lib/use-event-stream'

const pageRows = 100
const refreshMs = 1000
/** Most ids of waiting sagas that are counted, because a higher number is of no use. */
const waitingMax = 9999

/** An event of `/sagas/stream`. */
export interface LogEvent {
  seq: number
  saga_id: string | null
  activity_id: string | null
  operation: string
  received_at: string
  service_name: string | null
  status: Saga['status'] | null
  outcome: Saga['outcome']
}

type Pages = InfiniteData<Page<Saga>, string | undefined>

export interface LiveSagas {
  rows: Saga[]
  error: unknown
  isPending: boolean
  hasMore: boolean
  isLoadingMore: boolean
  loadMore: () => void
  reload: () => unknown
  stream: StreamState
  /** Number of sagas that are not shown yet. */
  waiting: number
  showWaiting: () => void
}

/**
 * Reads a list of sagas that follows the log. While the reader is at the top, the list is its newest first
 * page; otherwise its rows stay in place, and new sagas are counted.
 *
 * @param filter filter and order of the API
 * @param enabled false: the filter is not known yet
 * @param paused whether rows stay unchanged
 * @param isReading whether rows must stay in place
 * @param onEvents called when the log has grown
 */
export function useLiveSagas({
  filter,
  enabled,
  paused,
  isReading,
  onEvents,
}: {
  filter: Query
  enabled: boolean
  paused: boolean
  isReading: () => boolean
  onEvents: () => void
}): LiveSagas {
  const client = useQueryClient()
  const key = useMemo(() => ['sagas', 'list', filter], [filter])
  const query = useSagaPages(key, filter, enabled)
  const rows = useMemo(() => query.data?.pages.flatMap((page) => page.rows) ?? [], [query.data])
  const [waiting, setWaiting] = useState<{ key: QueryKey; ids: Set<string> }>({ key, ids: new Set() })
  const waitingIds = waiting.key === key ? waiting.ids : new Set<string>()

  const readHead = () => getPage<Saga>('/sagas', { ...filter, per_page: pageRows })
  const showHead = (head: Page<Saga>) => {
    // Unchanged rows stay the same objects, so that they are not rendered again.
    const shown = new Map(rows.map((row) => [row.saga_id, row]))
    const kept = head.rows.map((row) => sameRow(shown.get(row.saga_id), row))
    client.setQueryData<Pages>(key, { pages: [{ ...head, rows: kept }], pageParams: [undefined] })
    setWaiting({ key, ids: new Set() })
  }
  const takeHead = useEffectEvent((head: Page<Saga>, keyOfHead: QueryKey) => {
    // The filter may have changed while the head was read.
    if (keyOfHead !== key) return
    if (!paused && !isReading()) {
      showHead(head)
      return
    }
    const shown = new Set(rows.map((row) => row.saga_id))
    const ids = new Set(waitingIds)
    for (const { saga_id } of head.rows) if (!shown.has(saga_id) && ids.size < waitingMax) ids.add(saga_id)
    if (ids.size !== waitingIds.size) setWaiting({ key, ids })
    if (paused) return
    const changed = new Map(head.rows.map((row) => [row.saga_id, row]))
    client.setQueryData<Pages>(
      key,
      (data) => data && withRows(data, (row) => sameRow(row, changed.get(row.saga_id) ?? row)),
    )
  })
  const refresh = useThrottled(refreshMs, async () => {
    if (!enabled || query.isPending) return
    takeHead(await readHead(), key)
  })
  const stream = useEventStream<LogEvent>({
    path: '/sagas/stream',
    query: streamQuery(filter),
    resumeBy: 'last_event_id',
    enabled,
    batchMs: refreshMs,
    onEvents(events) {
      // While the reader is at the top, the list is replaced at once.
      if (!paused && isReading()) client.setQueryData<Pages>(key, (data) => data && withEvents(data, events))
      refresh()
      onEvents()
    },
    onGap: refresh,
  })
  return {
    rows,
    error: query.error,
    isPending: query.isPending,
    hasMore: query.hasNextPage,
    isLoadingMore: query.isFetchingNextPage,
    loadMore() {
      if (query.hasNextPage && !query.isFetchingNextPage) void query.fetchNextPage()
    },
    reload: () => query.refetch(),
    stream,
    waiting: waitingIds.size,
    showWaiting: () => void readHead().then(showHead),
  }
}

/** Reads the pages that are loaded so far. */
function useSagaPages(key: QueryKey, filter: Query, enabled: boolean) {
  return useInfiniteQuery({
    queryKey: key,
    enabled,
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      getPage<Saga>('/sagas', { ...filter, per_page: pageRows, cursor: pageParam }, signal),
    getNextPageParam: (page) => page.nextCursor,
    // The stream keeps the list up to date. A refetch would read all pages again.
    staleTime: Number.POSITIVE_INFINITY,
    structuralSharing: false,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  })
}

/**
 * Returns the filters that the stream supports. The status is not among them, because sagas that leave a
 * status must be noticed.
 */
const streamQuery = ({ tenant, service_name }: Query): Query => ({ tenant, service_name })

/** Returns the shown row if the other one is equal, otherwise the other one. */
const sameRow = (shown: Saga | undefined, row: Saga): Saga =>
  shown && JSON.stringify(shown) === JSON.stringify(row) ? shown : row

/** Replaces the rows that `change` replaces; pages without such a row stay the same objects. */
function withRows(data: Pages, change: (row: Saga) => Saga | undefined): Pages {
  const pages = data.pages.map((page) => {
    const rows = page.rows.map((row) => change(row) ?? row)
    return rows.some((row, index) => row !== page.rows[index]) ? { ...page, rows } : page
  })
  return { ...data, pages }
}

function withEvents(data: Pages, events: LogEvent[]): Pages {
  const last = new Map(events.map((event) => [event.saga_id, event]))
  return withRows(data, (row) => {
    const event = last.get(row.saga_id)
    if (!event?.status || event.received_at < row.last_event_at) return undefined
    const { status, outcome, service_name, received_at } = event
    return { ...row, status, outcome, service_name, last_event_at: received_at }
  })
}

/**
 * Runs `work` at most once in `periodMs`, and never in parallel. A call that comes too early runs later.
 * Failures are ignored, because the next call does the same work.
 */
function useThrottled(periodMs: number, work: () => Promise<void>): () => void {
  const run = useEffectEvent(work)
  const state = useRef({ isBusy: false, isAsked: false })
  const begin = () => {
    const now = state.current
    if (now.isBusy) {
      now.isAsked = true
      return
    }
    now.isBusy = true
    void run()
      .catch(() => {})
      .then(() => new Promise((resolve) => setTimeout(resolve, periodMs)))
      .then(() => {
        now.isBusy = false
        if (!now.isAsked) return
        now.isAsked = false
        begin()
      })
  }
  return begin
}
