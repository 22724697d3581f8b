import { useQueries, useQuery } from '@tanstack/react-query'
import { get } from '../../api/client'
import type { Tone } from '../../components/badge'
import { Panel } from '../../components/page'
import { Problem, Shown } from '../../components/states'
import { TextLink } from '../../components/text-link'
import { Time } from '../../components/time'
import type { SagaStats } from '../../generated/types.gen'
import { count, firstLine } from '../../lib/format'
import type { SagaSearch } from '../sagas/saga-filter'
import { totalQuery } from '../sagas/status-counts'
import { Figure, Figures } from './figure'

const causesShown = 5
const refetchMs = 10_000
/** The queries of sagas that need attention, with their names. */
const needy: { name: string; search: SagaSearch; tone: Tone; total: ReturnType<typeof totalQuery> }[] = [
  { name: 'in error', search: { status: 'Error' }, tone: 'bad', total: totalQuery({}, 'Error') },
  ...(['stuck', 'overdue', 'parked', 'inconsistent'] as const).map((flag) => ({
    name: flag,
    search: { flag },
    tone: flag === 'stuck' || flag === 'inconsistent' ? ('bad' as const) : ('warn' as const),
    total: totalQuery({ [flag]: true }),
  })),
]

/** The numbers of sagas that need attention, with the reasons. */
export function SagasNow() {
  const counts = useQueries({ queries: needy.map(({ total }) => total) })
  const stats = useQuery({
    queryKey: ['sagas', 'stats'],
    queryFn: ({ signal }) => get<SagaStats>('/sagas/stats', {}, signal),
    refetchInterval: refetchMs,
  })
  const failed = counts.find(({ error }) => error)
  return (
    <Panel
      name="Sagas"
      actions={<TextLink to="/sagas">All sagas</TextLink>}
      busy={counts.some(({ isPending }) => isPending)}
    >
      {failed && <Problem error={failed.error} retry={failed.refetch} />}
      <Figures inRow={3}>
        {needy.map(({ name, search, tone }, index) => (
          <Figure
            key={name}
            value={counts[index]?.data}
            tone={tone}
            name={
              <TextLink to="/sagas" search={search}>
                {name}
              </TextLink>
            }
          />
        ))}
      </Figures>
      <Shown query={stats}>{({ failures, from }) => <Causes failures={failures} from={from} />}</Shown>
    </Panel>
  )
}

const causeCharsMax = 120

function Causes({ failures, from }: Pick<SagaStats, 'failures' | 'from'>) {
  if (failures.length === 0)
    return <p className="text-quiet">No saga has reported an error within the last day.</p>
  return (
    <>
      <h3 className="mb-1 text-sm font-medium">
        Failures by cause (
        <TextLink to="/failures" className="underline">
          all
        </TextLink>
        )
      </h3>
      <ul className="divide-y">
        {failures.slice(0, causesShown).map((cause) => (
          <li key={cause.fingerprint} className="flex items-baseline gap-3 py-1.5">
            <TextLink
              to="/sagas"
              search={{ fingerprint: cause.fingerprint, from }}
              className="min-w-0 flex-1 truncate"
              dir="auto"
            >
              {firstLine(cause.sample, causeCharsMax)}
            </TextLink>
            <span className="text-sm text-quiet">
              <Time at={cause.last_seen_at} />
            </span>
            <span className="w-12 text-right font-semibold tabular-nums">{count(cause.count)}</span>
          </li>
        ))}
      </ul>
    </>
  )
}
