import { Panel } from '../../components/page'
import { TextLink } from '../../components/text-link'
import { count, duration } from '../../lib/format'
import { SourcesShown } from '../queues/sources-shown'
import { lateSeconds, type SourceFigures, useSources } from '../queues/use-sources'
import { Figure, Figures } from './figure'

/** Queues that are late, dead jobs, and workers. */
export function QueuesNow() {
  const found = useSources()
  return (
    <Panel name="Queues" actions={<TextLink to="/queues">All queues</TextLink>}>
      <SourcesShown found={found}>{(sources) => <QueueFigures sources={sources} />}</SourcesShown>
    </Panel>
  )
}

function QueueFigures({ sources }: { sources: SourceFigures[] }) {
  const late = sources.flatMap(({ name: source, queues }) =>
    Object.entries(queues)
      .filter(([, { latency, paused }]) => latency > lateSeconds || paused)
      .map(([name, queue]) => ({ source, name, queue })),
  )
  const sum = (read: (source: SourceFigures) => number) =>
    sources.reduce((total, source) => total + read(source), 0)
  const link = (name: string) => <TextLink to="/queues">{name}</TextLink>
  return (
    <>
      <Figures>
        <Figure value={late.length} tone="bad" name={link('late or paused')} />
        <Figure value={sum(({ jobs }) => jobs.dead)} tone="bad" name={link('dead jobs')} />
        <Figure value={sum(({ jobs }) => jobs.enqueued)} tone="plain" name={link('waiting')} />
        <Figure value={sum(({ processes }) => processes.length)} tone="good" name={link('workers')} />
      </Figures>
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
    </>
  )
}
