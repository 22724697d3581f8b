import { queryOptions, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { getPage, segment } from '../../../api/client'
import { State } from '../../../components/badge'
import { Button } from '../../../components/button'
import { ByJob } from '../../../components/by-job'
import { DataTable } from '../../../components/data-table'
import { Panel } from '../../../components/page'
import { Empty, Shown } from '../../../components/states'
import { Time } from '../../../components/time'
import type { CommitStatus } from '../../../generated/types.gen'
import { duration, isWebAddress } from '../../../lib/format'

const refreshMs = 5000
const statusesMax = 100
const rowsAtFirst = 8

export const statusesQuery = (project: string, sha: string) =>
  queryOptions({
    queryKey: [project, 'commit', sha, 'statuses'],
    queryFn: ({ signal }) =>
      getPage<CommitStatus>(
        `${project}/repository/commits/${segment(sha)}/statuses`,
        { all: true, order_by: 'id', sort: 'desc', per_page: statusesMax },
        signal,
      ),
    refetchInterval: refreshMs,
  })

/** All statuses of a commit, including those that a later one of the same name has replaced. */
export function StatusesPanel({ project, sha }: { project: string; sha: string }) {
  const [isWhole, setIsWhole] = useState(false)
  const statuses = useQuery(statusesQuery(project, sha))
  return (
    <Panel name="Statuses" flush busy={statuses.isPending}>
      <Shown query={statuses}>
        {({ rows, total }) => (
          <>
            <DataTable
              label="Statuses"
              columns={columns}
              rows={isWhole ? rows : rows.slice(0, rowsAtFirst)}
              rowKey={(row) => row.id}
              empty={none}
            />
            {!isWhole && rows.length > rowsAtFirst && (
              <p className="border-t px-4 py-2">
                <Button onClick={() => setIsWhole(true)}>Show all {rows.length} statuses</Button>
              </p>
            )}
            {total !== undefined && total > rows.length && (
              <p className="px-4 py-2 text-sm text-quiet">
                The newest {rows.length} of {total} are shown.
              </p>
            )}
          </>
        )}
      </Shown>
    </Panel>
  )
}

const none = (
  <Empty title="No status was reported for this commit.">
    A CI system reports one with <code>POST /projects/:id/statuses/:sha</code>.
  </Empty>
)

const columns = [
  { header: 'State', cell: ({ status }: CommitStatus) => <State of={status} /> },
  { header: 'Name', cell: (status: CommitStatus) => <StatusName status={status} /> },
  {
    header: 'Branch or tag',
    wide: true,
    cell: ({ ref }: CommitStatus) => (
      <span dir="auto" className="font-mono text-[13px]">
        {ref ?? '–'}
      </span>
    ),
  },
  { header: 'Reported', cell: ({ created_at }: CommitStatus) => <Time at={created_at} /> },
  { header: 'Started', wide: true, cell: ({ started_at }: CommitStatus) => <Time at={started_at} /> },
  { header: 'Finished', wide: true, cell: ({ finished_at }: CommitStatus) => <Time at={finished_at} /> },
  { header: 'Took', numeric: true, wide: true, cell: (status: CommitStatus) => lengthOf(status) },
  {
    header: 'Coverage',
    numeric: true,
    wide: true,
    cell: ({ coverage }: CommitStatus) => (coverage === null ? '–' : `${coverage} %`),
  },
]

function lengthOf({ started_at, finished_at }: CommitStatus): string {
  if (!started_at || !finished_at) return '–'
  return duration(Math.max(0, Date.parse(finished_at) - Date.parse(started_at)))
}

function StatusName({ status: { name, description, target_url, job_identity } }: { status: CommitStatus }) {
  return (
    <>
      {target_url && isWebAddress(target_url) ? (
        <a href={target_url} rel="noreferrer" dir="auto" className="text-accent hover:underline">
          {name}
        </a>
      ) : (
        <span dir="auto">{name}</span>
      )}
      {description && (
        <span dir="auto" className="block max-w-md text-quiet">
          {description}
        </span>
      )}
      <ByJob job={job_identity} />
    </>
  )
}
