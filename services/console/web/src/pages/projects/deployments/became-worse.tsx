import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { getPage } from '../../../api/client'
import { Badge } from '../../../components/badge'
import { isRefused } from '../../../components/states'
import type { Deployment, EndedDeployment } from '../../../generated/types.gen'

const refreshMs = 15_000
const rowsMax = 100

/** Whether something became worse with a deployment, and nobody says that it is not the reason. */
export const isBlamed = ({ findings, dismissed }: EndedDeployment) => findings.length > 0 && !dismissed

export const BecameWorse = () => <Badge tone="bad">became worse</Badge>

type Listed = Pick<Deployment, 'id' | 'finished_at'>

/**
 * Which deployments of a list something became worse with. One question for all of them: what ended in the
 * time of the list, in any project. Of more than 100, the last ones are known.
 */
export function useBlamed(list: readonly Listed[]): (projectId: number, deployment: Listed) => boolean {
  const ends = list.flatMap(({ finished_at }) => (finished_at ? [Date.parse(finished_at)] : []))
  const first = ends.length > 0 ? new Date(Math.min(...ends)).toISOString() : undefined
  // The times of the API are cut to milliseconds.
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
