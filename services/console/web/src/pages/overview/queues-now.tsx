import { useQueries, useQuery } from '@tanstack/react-query'
import { Panel } from '../../components/page'
import { Problem } from '../../components/states'
import { TextLink } from '../../components/text-link'
import { count, duration } from '../../lib/format'
import { compoundQuery, lateSeconds, sourcesQuery } from '../queues/compound'
import { Figure } from './figure'

/** Queues that are late, dead jobs, and workers. */
export function QueuesNow() {
  const sources = useQuery(sourcesQuery).data ?? []
  const answers = useQueries({ queries: sources.map(({ name }) => compoundQuery(name)) })
  const found = answers.flatMap(({ data }, index) =>
    data ? [{ source: sources[index]?.name ?? '', data }] : [],
  )
  const late = found.flatMap(({ source, data }) =>
    Object.entries(data.queues)
      .filter(([, { latency, paused }]) => latency > lateSeconds || paused)
      .map(([name, queue]) => ({ source, name, queue })),
  )
  const failed = answers.find(({ error }) => error)
  const sum = (read: (part: (typeof found)[number]['data']) => number) =>
    found.reduce((total, { data }) => total + read(data), 0)
  return (
    <Panel name="Queues" actions={<TextLink to="/queues">All queues</TextLink>}>
      {failed && <Problem error={failed.error} retry={failed.refetch} />}
      <div className="flex flex-wrap gap-2">
        <Figure value={late.length} tone="bad" name={<TextLink to="/queues">late or paused</TextLink>} />
        <Figure
          value={sum(({ jobs }) => jobs.dead)}
          tone="bad"
          name={<TextLink to="/queues">dead jobs</TextLink>}
        />
        <Figure
          value={sum(({ jobs }) => jobs.enqueued)}
          tone="plain"
          name={<TextLink to="/queues">waiting</TextLink>}
        />
        <Figure
          value={sum(({ processes }) => processes.length)}
          tone="good"
          name={<TextLink to="/queues">workers</TextLink>}
        />
      </div>
      <ul className="divide-y empty:hidden">
        {late.map(({ source, name, queue }) => (
          <li key={`${source} ${name}`} className="flex gap-3 py-1.5">
            <TextLink
              to="/queues/$source/$queue"
              params={{ source, queue: name }}
              className="min-w-0 flex-1 truncate"
            >
              {name}
            </TextLink>
            <span className="text-bad">
              {queue.paused ? 'paused' : `late by ${duration(queue.latency * 1000)}`}
            </span>
            <span className="tabular-nums">{count(queue.backlog)}</span>
          </li>
        ))}
      </ul>
    </Panel>
  )
}
