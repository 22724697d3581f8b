import { getRouteApi } from '@tanstack/react-router'
import { useMay } from '../../api/session'
import { guarded } from '../../components/guarded'
import { Page } from '../../components/page'
import { RangeChoice } from '../../components/range-choice'
import { NotFound } from '../../components/states'
import { TextLink } from '../../components/text-link'
import { count, duration } from '../../lib/format'
import { pageOf } from '../../lib/search-params'
import { QueueServices } from '../services/queue-services'
import { rangeNames, rangeOf } from './history'
import { HistoryCharts } from './history-charts'
import { OwnJobs } from './own-jobs'
import { SourcesShown } from './sources-shown'
import { useSources } from './use-sources'

/** Name of the source for Switchyard's own worker. */
const ownSource = 'switchyard'

const route = getRouteApi('/queues/$source/$queue')

export const QueuePage = guarded('queues', Queue)

function Queue() {
  const { source, queue } = route.useParams()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const range = rangeOf(search.range)
  const mayManageJobs = useMay('jobs')
  const all = useSources()
  const figures = all.sources?.find(({ name }) => name === source)
  const found = figures?.queues[queue]
  const isSilent = all.silent.some(({ name }) => name === source)
  if (all.sources && !found && !isSilent) return <NotFound />
  return (
    <Page
      title={queue}
      actions={
        <RangeChoice
          names={rangeNames}
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
      <QueueServices source={source} queue={queue} />
      <SourcesShown found={all}>
        {() =>
          found && (
            <p className="mb-4">
              {found.backlog === 0
                ? 'Nothing waits'
                : `${count(found.backlog)} waiting, the oldest for ${duration(found.latency * 1000)}`}
              {typeof found.busy === 'number' && `, ${count(found.busy)} running`}
              {found.paused && ' – the queue is paused'}.
            </p>
          )
        }
      </SourcesShown>
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
