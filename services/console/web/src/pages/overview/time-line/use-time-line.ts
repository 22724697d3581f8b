import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query'
import { get, getPage } from '../../../api/client'
import { mayUse, useSession } from '../../../api/session'
import { isRefused } from '../../../components/states'
import type { BroadcastMessage, EndedDeployment, FailureHistory, Freeze } from '../../../generated/types.gen'
import { serverNow } from '../../../lib/server-clock'
import { historyQuery } from '../../queues/history'
import { activeBroadcastsQuery } from '../broadcasts-now'
import { bucketSeconds, type Hours, spanOf } from './time-line-model'

const oftenMs = 15_000
const seldomMs = 60_000
const rowsMax = 100

/** Stops repeating a request that was refused. */
const unlessRefused =
  (intervalMs: number) =>
  ({ state }: { state: { error: unknown } }) =>
    isRefused(state.error) ? false : intervalMs

/** Returns the start of the span at the time of the request. */
const beginOf = (hours: Hours) => new Date(spanOf(hours, serverNow()).from).toISOString()

const deploymentsQuery = (hours: Hours) =>
  queryOptions({
    queryKey: ['time-line', 'deployments', hours],
    queryFn: ({ signal }) => {
      const question = { finished_after: beginOf(hours), per_page: rowsMax }
      return getPage<EndedDeployment>('/deployments', question, signal)
    },
    placeholderData: keepPreviousData,
    refetchInterval: unlessRefused(oftenMs),
  })

const freezesQuery = (hours: Hours) =>
  queryOptions({
    queryKey: ['time-line', 'freezes', hours],
    queryFn: ({ signal }) =>
      getPage<Freeze>('/freezes', { ends_after: beginOf(hours), per_page: rowsMax }, signal),
    placeholderData: keepPreviousData,
    refetchInterval: unlessRefused(seldomMs),
  })

/** The query has no data of other hours as a placeholder, because their buckets do not match. */
const failuresQuery = (hours: Hours) =>
  queryOptions({
    queryKey: ['time-line', 'failures', hours],
    queryFn: ({ signal }) => {
      const question = { failed_after: beginOf(hours), bucket_seconds: bucketSeconds[hours] }
      return get<FailureHistory>('/sagas/failure_history', question, signal)
    },
    refetchInterval: unlessRefused(oftenMs),
  })

const broadcastsQuery = (hours: Hours) =>
  queryOptions({
    queryKey: ['broadcasts', 'time-line', hours],
    queryFn: ({ signal }) => {
      const startsBefore = new Date(serverNow()).toISOString()
      const question = { ends_after: beginOf(hours), starts_before: startsBefore, per_page: rowsMax }
      return getPage<BroadcastMessage>('/broadcast_messages', question, signal)
    },
    placeholderData: keepPreviousData,
    refetchInterval: oftenMs,
  })

/** Reads broadcasts. Managers of broadcasts also see past ones; everybody else sees only active ones. */
function useBroadcasts(hours: Hours) {
  const mayManage = mayUse(useSession(), 'broadcasts')
  const all = useQuery({ ...broadcastsQuery(hours), enabled: mayManage })
  const active = useQuery({ ...activeBroadcastsQuery, enabled: !mayManage })
  return { query: mayManage ? all : active, broadcasts: (mayManage ? all.data?.rows : active.data) ?? [] }
}

/** Reads the content of the time line, and which parts of it this session may not read. */
export function useTimeLine(hours: Hours) {
  const session = useSession()
  const mayRead = mayUse(session, 'projects')
  const deployments = useQuery({ ...deploymentsQuery(hours), enabled: mayRead })
  const freezes = useQuery({ ...freezesQuery(hours), enabled: mayRead })
  const failures = useQuery({ ...failuresQuery(hours), enabled: mayUse(session, 'sagas') })
  const latencies = useQuery({
    ...historyQuery(hours === '1' ? 'hour' : 'day'),
    enabled: mayUse(session, 'queues'),
  })
  const { broadcasts, query: broadcastsAsked } = useBroadcasts(hours)
  const parts = [
    { name: 'deployments', query: deployments, isAllowed: mayRead },
    { name: 'freezes', query: freezes, isAllowed: mayRead },
    { name: 'failures of sagas', query: failures, isAllowed: mayUse(session, 'sagas') },
    { name: 'latency of queues', query: latencies, isAllowed: mayUse(session, 'queues') },
    { name: 'broadcasts', query: broadcastsAsked, isAllowed: true },
  ]
  return {
    deployments: deployments.data,
    freezes: freezes.data?.rows ?? [],
    failures: failures.data,
    latencies: latencies.data,
    broadcasts,
    isPending: parts.some(({ query }) => query.isLoading),
    withheld: parts.filter((part) => !part.isAllowed || isRefused(part.query.error)).map(({ name }) => name),
    failed: parts.map(({ query }) => query).find((query) => query.isError && !isRefused(query.error)),
  }
}
