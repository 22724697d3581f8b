import { useQueries, useQuery } from '@tanstack/react-query'
import { get, getPage, segment } from '../../../api/client'
import type { Commit, CommitDetail, ListedPipeline } from '../../../generated/types.gen'

export interface CommitState {
  status: string
  pipelineId: number
}

const refreshMs = 10_000
const pipelinesAtOnce = 100

/**
 * Reads the state of each commit from its newest pipeline. The newest pipelines are requested together with
 * the commits; only commits without one of these are requested one by one.
 */
export function useCommitStates(
  project: string,
  ref: string,
  commits: readonly Commit[] | undefined,
): ReadonlyMap<string, CommitState> {
  const newest = useQuery({
    queryKey: [project, 'pipelines', ref],
    queryFn: ({ signal }) =>
      getPage<ListedPipeline>(`${project}/pipelines`, { per_page: pipelinesAtOnce }, signal),
    refetchInterval: refreshMs,
  })
  const states = new Map<string, CommitState>()
  // The newest pipeline of a commit comes first.
  for (const { sha, status, id } of newest.data?.rows ?? [])
    if (!states.has(sha)) states.set(sha, { status, pipelineId: id })
  const areAllKnown = newest.data?.nextPage === undefined
  const open = newest.data && !areAllKnown ? (commits ?? []).filter(({ id }) => !states.has(id)) : []
  const found = useQueries({
    queries: open.map(({ id }) => ({
      queryKey: [project, 'commit', id, 'state'],
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        get<CommitDetail>(`${project}/repository/commits/${segment(id)}`, { stats: false }, signal),
      staleTime: 60_000,
    })),
  })
  for (const { data } of found)
    if (data?.status && data.last_pipeline)
      states.set(data.id, { status: data.status, pipelineId: data.last_pipeline.id })
  return states
}
