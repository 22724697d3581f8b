import {
  type UseInfiniteQueryResult,
  useInfiniteQuery,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { useMay } from '../../api/session'
import { Button } from '../../components/button'
import { CopyButton } from '../../components/copy-button'
import { guarded } from '../../components/guarded'
import { Page, Panel } from '../../components/page'
import { Empty, isMissing, Loading, NotFound, Problem, Shown } from '../../components/states'
import { TextLink } from '../../components/text-link'
import type { SagaActivity, SagaDetail, SagaEvent } from '../../generated/types.gen'
import { count } from '../../lib/format'
import { oneOf } from '../../lib/search-params'
import { type StreamState, useEventStream } from '../../lib/use-event-stream'
import { hasPayload, Payloads } from './payloads'
import { hasAddress } from './saga-address'
import { SagaCause } from './saga-cause'
import { SagaCommands } from './saga-commands'
import { SagaEvents } from './saga-events'
import { SagaErrors, SagaFacts } from './saga-facts'
import { Children, countsText } from './saga-family'
import { ResolveDialog, SagaNotes } from './saga-notes'
import { type SagaKey, sagaEventsQuery, sagaQuery, sagaQueryKey } from './saga-queries'
import { Timeline } from './timeline'

const route = getRouteApi('/sagas/$sagaId')
const livePeriodMs = 1000

const tabs = [
  { value: 'timeline', name: 'Timeline' },
  { value: 'payloads', name: 'Payloads' },
  { value: 'errors', name: 'Errors' },
  { value: 'events', name: 'Events' },
  { value: 'commands', name: 'Commands' },
  { value: 'notes', name: 'Notes' },
] as const
type LogQuery = UseInfiniteQueryResult<SagaEvent[]>
type Tab = (typeof tabs)[number]['value']

export const SagaPage = guarded('sagas', () => {
  const { sagaId } = route.useParams()
  return hasAddress(sagaId) ? <ShownSaga /> : <WithoutAddress sagaId={sagaId} />
})

/** A saga that the API shows only in its list. */
const WithoutAddress = ({ sagaId }: { sagaId: string }) => (
  <Page title={sagaId}>
    <Empty title="A saga of this id has no page">
      The address of a saga ends with its id, and this one means something else in an address. The{' '}
      <TextLink to="/sagas" search={{ q: sagaId }}>
        list of sagas
      </TextLink>{' '}
      shows its state.
    </Empty>
  </Page>
)

function ShownSaga() {
  const { sagaId } = route.useParams()
  const { tenant } = route.useSearch()
  const key: SagaKey = { sagaId, tenant }
  const { data, error, isError, refetch } = useQuery(sagaQuery(key))
  // Requested in parallel with the saga.
  const events = useInfiniteQuery(sagaEventsQuery(key))
  const stream = useFollowed(key, data)
  if (data) return <SagaParts id={key} saga={data} error={error} events={events} stream={stream} />
  if (isMissing(error)) return <NotFound />
  return <Page title={sagaId}>{isError ? <Problem error={error} retry={refetch} /> : <Loading />}</Page>
}

/** Reads the saga again when its log has grown. */
function useFollowed(key: SagaKey, saga: SagaDetail | undefined) {
  const client = useQueryClient()
  const read = () => client.invalidateQueries({ queryKey: sagaQueryKey(key) })
  return useEventStream({
    path: '/sagas/stream',
    query: { tenant: key.tenant, saga_id: key.sagaId },
    resumeBy: 'last_event_id',
    enabled: saga !== undefined && saga.status !== 'Ended',
    batchMs: livePeriodMs,
    onEvents: () => void read(),
    onGap: () => void read(),
  })
}

function SagaParts({
  id,
  saga,
  error,
  events,
  stream,
}: {
  id: SagaKey
  saga: SagaDetail
  error: unknown
  events: LogQuery
  stream: StreamState
}) {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const tab = oneOf(
    tabs.map(({ value }) => value),
    search.tab,
  )
  const isShown = (part: Tab) => tab === undefined || tab === part
  const choose = (activity: string) =>
    void navigate({ search: (before) => ({ ...before, activity }), replace: true, resetScroll: false })
  const activities = saga.activities
  const chosen =
    activities.find(({ activity_id }) => activity_id === search.activity) ?? activities.find(hasPayload)
  return (
    <Page title={saga.saga_id} actions={<Actions id={id} saga={saga} stream={stream} />}>
      {error !== null && <Problem error={error} />}
      <SagaFacts saga={saga} />
      <SagaCause saga={saga} />
      <Tabs />
      {isShown('timeline') && (
        <Panel name="Timeline" flush>
          <Timeline saga={saga} events={events.data ?? []} chosen={chosen?.activity_id} onChoose={choose} />
          {saga.next_activities_cursor !== null && (
            <p className="px-3 py-2 text-sm text-quiet">
              These are the first {count(activities.length)} activities. The API has the others.
            </p>
          )}
        </Panel>
      )}
      {isShown('payloads') && (
        <Panel name="Payloads">
          <Payloads saga={id} activity={chosen} />
        </Panel>
      )}
      {isShown('errors') && (tab === 'errors' || activities.some(hasErrors)) && (
        <Panel name="Errors">
          <SagaErrors saga={saga} />
        </Panel>
      )}
      {isShown('events') && <Events query={events} onChoose={choose} />}
      {tab === undefined && <ChildrenPanel id={id} saga={saga} />}
      {isShown('commands') && <SagaCommands id={id} saga={saga} />}
      {isShown('notes') && (
        <Panel name="Notes">
          <SagaNotes saga={id} notes={saga.notes} />
        </Panel>
      )}
    </Page>
  )
}

const Events = ({ query, onChoose }: { query: LogQuery; onChoose: (activityId: string) => void }) => (
  <Panel name="Events" flush>
    <Shown query={query}>
      {(rows) => (
        <SagaEvents
          events={rows}
          hasMore={query.hasNextPage}
          isLoadingMore={query.isFetchingNextPage}
          loadMore={() => void query.fetchNextPage()}
          onChoose={onChoose}
        />
      )}
    </Shown>
  </Panel>
)

function ChildrenPanel({ id, saga }: { id: SagaKey; saga: SagaDetail }) {
  if (saga.children.length === 0) return null
  return (
    <Panel
      name="Children"
      flush
      actions={
        <TextLink to="/sagas" search={{ tenant: id.tenant, parent: saga.saga_id }} className="text-sm">
          {countsText(saga.children_counts) || 'All'}
        </TextLink>
      }
    >
      <Children items={saga.children} tenant={id.tenant} />
    </Panel>
  )
}

const hasErrors = ({ execute_errors, compensate_errors }: SagaActivity) =>
  execute_errors !== null || compensate_errors !== null

function Actions({ id, saga, stream }: { id: SagaKey; saga: SagaDetail; stream: StreamState }) {
  const mayChange = useMay('sagas.change')
  const [isResolving, setIsResolving] = useState(false)
  return (
    <>
      <span role="status" className="text-sm text-quiet">
        {stream === 'reconnecting' && 'Reconnecting…'}
      </span>
      <CopyButton label="Copy as JSON" text={() => JSON.stringify(saga, null, 2)} />
      {mayChange && saga.status === 'Error' && (
        <Button look="primary" onClick={() => setIsResolving(true)}>
          Resolve
        </Button>
      )}
      {isResolving && <ResolveDialog saga={id} onClose={() => setIsResolving(false)} />}
    </>
  )
}

/** Links that show one part of the page, or all parts. */
function Tabs() {
  const choices = [{ value: undefined, name: 'Everything' }, ...tabs]
  return (
    <nav aria-label="Parts of the saga" className="mb-4 flex flex-wrap gap-1 border-b">
      {choices.map(({ value, name }) => (
        <TextLink
          key={name}
          from="/sagas/$sagaId"
          to="."
          search={(before) => ({ ...before, tab: value })}
          resetScroll={false}
          // Compares the whole query, so that exactly one link is current.
          activeOptions={{ exact: true }}
          className="-mb-px border-b-2 border-transparent px-3 py-1.5 text-sm aria-[current=page]:border-accent aria-[current=page]:font-medium"
        >
          {name}
        </TextLink>
      ))}
    </nav>
  )
}
