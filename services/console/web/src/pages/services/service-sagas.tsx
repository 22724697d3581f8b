import { sagaStatuses } from '@switchyard/domain/saga-status'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { Panel } from '../../components/page'
import { Problem } from '../../components/states'
import { TextLink } from '../../components/text-link'
import { dayMs } from '../../lib/local-time'
import { serverNow } from '../../lib/server-clock'
import { Figure, Figures } from '../overview/figure'
import { FilterText } from '../sagas/saga-filters'
import { readCounts, totalQuery } from '../sagas/status-counts'

const route = getRouteApi('/services/$service')
const refreshMs = 10_000

/**
 * The number of the service's sagas that began within the last day, by status, and the number that are stuck
 * now.
 */
export function ServiceSagas({ service, tenant }: { service: string; tenant: string | undefined }) {
  const navigate = route.useNavigate()
  const place = { service_name: service, tenant }
  const day = useQuery({
    queryKey: ['sagas', 'day', place],
    queryFn: async ({ signal }) => {
      const from = new Date(serverNow() - dayMs).toISOString()
      return { from, counts: await readCounts({ ...place, created_after: from }, signal) }
    },
    refetchInterval: refreshMs,
  })
  const stuck = useQuery(totalQuery({ ...place, stuck: true }))
  const failed = [day, stuck].find(({ error }) => error)
  const counts = day.data?.counts
  return (
    <Panel
      name="Sagas of the last day"
      busy={day.isPending || stuck.isPending}
      actions={
        <>
          <FilterText
            label="Tenant"
            value={tenant}
            onChange={(value) => void navigate({ search: { tenant: value }, resetScroll: false })}
          />
          <TextLink to="/sagas" search={{ service, tenant }}>
            All its sagas
          </TextLink>
        </>
      }
    >
      {failed && <Problem error={failed.error} retry={failed.refetch} />}
      <Figures>
        {sagaStatuses.map((status) => (
          <Figure
            key={status}
            // No count at all means that counting took too long.
            value={counts && counts.size > 0 ? Number.parseInt(counts.get(status) ?? '0', 10) : undefined}
            tone={status === 'Error' ? 'bad' : 'plain'}
            name={
              <TextLink to="/sagas" search={{ service, tenant, status, from: day.data?.from }}>
                {status}
              </TextLink>
            }
          />
        ))}
        <Figure
          value={stuck.data}
          tone="bad"
          name={
            <TextLink to="/sagas" search={{ service, tenant, flag: 'stuck' }}>
              stuck now
            </TextLink>
          }
        />
      </Figures>
    </Panel>
  )
}
