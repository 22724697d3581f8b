import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { getPage } from '../../../api/client'
import { Badge } from '../../../components/badge'
import { isRefused } from '../../../components/states'
import type { Deployment, EndedDeployment } from '../../../generated/types.gen'

const refreshMs = 15_000
const rowsMax = 100

/** Returns whether a deployment has findings that nobody has dismissed. */
export const isBlamed = ({ findings, dismissed }: EndedDeployment) => findings.length > 0 && !dismissed

export const BecameWorse = () => <Badge tone="bad">became worse</Badge>

type Listed = Pick<Deployment, 'id' | 'finished_at'>

/**
 * Returns which deployments of a list have findings. It uses one request for all of them: the deployments of
 * any project that ended in the time of the list. Of more than 100, only the latest are known.
 */
export function useBlamed(list: readonly Listed[]): (projectId: number, deployment: Listed) => boolean {
  const ends = list.flatMap(({ finished_at }) => (finished_at ? [Date.parse(finished_at)] : []))
  const first = ends.length > 0 ? new Date(Math.min(...ends)).toISOString() : undefined
  // The API truncates times to milliseconds.
  const last = ends.length > 0 ? new Date(Math.max(...ends) + 1).toISOString() : undefined
  const { data } = useQuery({
    queryKey: ['deployments', 'blamed', first, last],
    queryFn: ({ signal }) => {
      const question = { finished_after: first, finished_before: last, per_page: rowsMax }
      return getPage<EndedDeployment>('/deployments', question, signal)
    },
    enabled: first !== undefined,
    placeholderData: keepPreviousData,
    refetchInterval: ({ state: { error } }) => (isRefused(error) ? false : refreshMs),
  })
  const blamed = new Set(data?.rows.filter(isBlamed).map(({ project, id }) => `${project.id} ${id}`))
  return (projectId, { id }) => blamed.has(`${projectId} ${id}`)
}
