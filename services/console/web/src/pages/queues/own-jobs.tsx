import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { getPage, segment, send } from '../../api/client'
import { ActionDialog } from '../../components/action-dialog'
import { Button } from '../../components/button'
import { type Column, PagedTable } from '../../components/data-table'
import { Panel } from '../../components/page'
import { Empty } from '../../components/states'
import { Time } from '../../components/time'
import type { BackgroundJob } from '../../generated/types.gen'

const perPage = 25

/** Failed jobs of Switchyard's own worker that are not tried again, with their reasons and actions. */
export function OwnJobs({
  queue,
  page,
  onMove,
}: {
  queue: string
  page: number
  onMove: (page: number) => void
}) {
  const [chosen, setChosen] = useState<{ job: BackgroundJob; action: 'retry' | 'remove' }>()
  const jobs = useQuery({
    queryKey: ['jobs', queue, page],
    queryFn: ({ signal }) =>
      getPage<BackgroundJob>('/jobqueue/jobs', { queue, page, per_page: perPage }, signal),
    refetchInterval: 10_000,
  })
  const columns: Column<BackgroundJob>[] = [
    ...factColumns,
    {
      header: 'Actions',
      cell: (job) => (
        <span className="flex gap-2">
          <Button onClick={() => setChosen({ job, action: 'retry' })}>Retry</Button>
          <Button onClick={() => setChosen({ job, action: 'remove' })}>Remove</Button>
        </span>
      ),
    },
  ]
  return (
    <Panel name="Failed jobs" flush busy={jobs.isFetching}>
      <PagedTable
        label="Failed jobs"
        query={jobs}
        page={page}
        onMove={onMove}
        rowKey={({ id }) => id}
        columns={columns}
        empty={<Empty title="No job of this queue has failed after all attempts." />}
      />
      {chosen && <JobDialog {...chosen} onClose={() => setChosen(undefined)} />}
    </Panel>
  )
}

const factColumns: Column<BackgroundJob>[] = [
  { header: 'Job', cell: ({ id }) => <code className="break-all">{id}</code> },
  { header: 'Reason', cell: ({ failed_reason }) => <span dir="auto">{failed_reason ?? '–'}</span> },
  {
    header: 'Attempts',
    numeric: true,
    cell: ({ attempts_made, attempts_max }) => `${attempts_made} of ${attempts_max}`,
  },
  { header: 'Failed', cell: ({ finished_at }) => <Time at={finished_at} /> },
]

function JobDialog({
  job,
  action,
  onClose,
}: {
  job: BackgroundJob
  action: 'retry' | 'remove'
  onClose: () => void
}) {
  const client = useQueryClient()
  const path = `/jobqueue/jobs/${segment(job.queue)}/${segment(job.id)}`
  const run = async () => {
    if (action === 'retry') await send('POST', `${path}/retry`)
    else await send('DELETE', path)
    await client.invalidateQueries({ queryKey: ['jobs'] })
    onClose()
  }
  return action === 'retry' ? (
    <ActionDialog title="Retry the job" action="Retry" run={run} onClose={onClose}>
      <p>It goes back to its queue, with all its attempts.</p>
    </ActionDialog>
  ) : (
    <ActionDialog title="Remove the job" action="Remove" look="danger" run={run} onClose={onClose}>
      <p>Its work is never done. This cannot be taken back.</p>
    </ActionDialog>
  )
}
