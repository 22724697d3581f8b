import { State } from '../../../components/badge'
import { DataTable } from '../../../components/data-table'
import { Empty } from '../../../components/states'
import { TextLink } from '../../../components/text-link'
import { Time } from '../../../components/time'
import type { Commit } from '../../../generated/types.gen'
import { shortSha } from '../../../lib/format'
import { useProjectParams } from '../project-frame'
import { GraphCell, type GraphRow } from './commit-graph'
import type { CommitState } from './use-commit-states'

interface Row {
  commit: Commit
  graph: GraphRow | undefined
  state: CommitState | undefined
}

/**
 * A table of commits, with the graph where all parents are in the list and the states where they are known.
 */
export function CommitTable({
  commits,
  graph,
  states,
  busy,
  isFiltered,
}: {
  commits: readonly Commit[]
  graph?: readonly GraphRow[] | undefined
  states?: ReadonlyMap<string, CommitState>
  busy?: boolean
  isFiltered?: boolean
}) {
  const rows = commits.map(
    (commit, index): Row => ({ commit, graph: graph?.[index], state: states?.get(commit.id) }),
  )
  const lanes = Math.max(
    1,
    ...(graph ?? []).flatMap((row) => [row.lane + 1, ...row.out.map((lane) => lane + 1)]),
  )
  const columns = [
    ...(graph
      ? [
          {
            header: 'Graph',
            wide: true,
            cell: ({ graph: row }: Row) => row && <GraphCell row={row} lanes={lanes} />,
          },
        ]
      : []),
    { header: 'Commit', cell: ({ commit }: Row) => <CommitCell commit={commit} /> },
    ...(states ? [{ header: 'Status', cell: ({ state }: Row) => <StateCell state={state} /> }] : []),
    {
      header: 'Id',
      wide: true,
      cell: ({ commit }: Row) => <code className="font-mono text-[13px]">{shortSha(commit.id)}</code>,
    },
    { header: 'Committed', wide: true, cell: ({ commit }: Row) => <Time at={commit.committed_date} /> },
  ]
  return (
    <DataTable
      label="Commits"
      columns={columns}
      rows={rows}
      rowKey={({ commit }) => commit.id}
      busy={busy}
      empty={
        isFiltered ? (
          <Empty title="No commit fits the filters.">Clear the text, the path or the author.</Empty>
        ) : (
          <Empty title="There are no commits." />
        )
      }
    />
  )
}

function CommitCell({ commit }: { commit: Commit }) {
  const params = useProjectParams()
  return (
    <div className="h-10 max-w-[min(60ch,55vw)] min-w-40">
      <TextLink
        to="/projects/$namespace/$name/commits/$sha"
        params={{ ...params, sha: commit.id }}
        dir="auto"
        className="block truncate font-medium"
        title={commit.title}
      >
        {commit.title || 'No message'}
      </TextLink>
      <span dir="auto" className="block truncate text-quiet">
        {commit.author_name}
        <span className="md:hidden">
          {' · '}
          <Time at={commit.committed_date} />
        </span>
      </span>
    </div>
  )
}

const StateCell = ({ state }: { state: CommitState | undefined }) =>
  state ? (
    <span className="flex flex-wrap items-center gap-x-2">
      <State of={state.status} />
      <span className="hidden text-quiet md:inline">pipeline {state.pipelineId}</span>
    </span>
  ) : (
    <span className="text-quiet">–</span>
  )
