import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useMay } from '../../api/session'
import { guarded } from '../../components/guarded'
import { Page } from '../../components/page'
import { NotFound, Shown } from '../../components/states'
import { TextLink } from '../../components/text-link'
import { count, duration } from '../../lib/format'
import { pageOf } from '../../lib/search-params'
import { compoundQuery } from './compound'
import { rangeOf } from './history'
import { HistoryCharts } from './history-charts'
import { OwnJobs } from './own-jobs'
import { RangeChoice } from './range-choice'

/** The name of the source of Switchyard's own worker. */
const ownSource = 'switchyard'

const route = getRouteApi('/queues/$source/$queue')

export const QueuePage = guarded('queues', Queue)

function Queue() {
  const { source, queue } = route.useParams()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const range = rangeOf(search.range)
  const mayManageJobs = useMay('jobs')
  const compound = useQuery(compoundQuery(source))
  const found = compound.data?.queues[queue]
  if (compound.data && !found) return <NotFound />
  return (
    <Page
      title={queue}
      actions={
        <RangeChoice
          range={range}
          onChoose={(next) => void navigate({ search: { ...search, range: next } })}
        />
      }
    >
      <p className="mb-4 text-sm">
        <TextLink to="/queues" className="underline">
          Queues
        </TextLink>{' '}
        / {source} / <span dir="auto">{queue}</span>
      </p>
      <Shown query={compound}>
        {() =>
          found && (
            <p className="mb-4">
              {count(found.backlog)} waiting, the oldest for {duration(found.latency * 1000)}
              {typeof found.busy === 'number' && `, ${count(found.busy)} running`}
              {found.paused && ' – the queue is paused'}.
            </p>
          )
        }
      </Shown>
      <HistoryCharts range={range} source={source} queue={queue} />
      {source === ownSource && mayManageJobs && (
        <OwnJobs
          queue={queue}
          page={pageOf(search.page)}
          onMove={(next) => void navigate({ search: { ...search, page: String(next) } })}
        />
      )}
    </Page>
  )
}
