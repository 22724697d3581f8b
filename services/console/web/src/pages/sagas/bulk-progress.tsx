import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { get, getPage, send } from '../../api/client'
import { useMay } from '../../api/session'
import { Badge, type Tone } from '../../components/badge'
import { Button } from '../../components/button'
import { DataTable } from '../../components/data-table'
import { FilterSelect } from '../../components/fields'
import { ModalActions } from '../../components/modal'
import { Problem, Shown } from '../../components/states'
import { TextLink } from '../../components/text-link'
import type { SagaBulkJob, SagaBulkResult } from '../../generated/types.gen'
import { count, countOf } from '../../lib/format'

const pollMs = 700
const isMoving = ({ state }: SagaBulkJob) => state === 'running' || state === 'undoing'

const keyOf = (tenant: string | undefined, id: string) => ['sagas-bulk', tenant ?? '', id]
const addressOf = (id: string) => `/sagas/bulk/${encodeURIComponent(id)}`

/** Reads a job, and polls it while it runs. */
export const useBulkJob = (tenant: string | undefined, id: string) =>
  useQuery({
    queryKey: keyOf(tenant, id),
    queryFn: ({ signal }) => get<SagaBulkJob>(addressOf(id), { tenant }, signal),
    staleTime: 0,
    refetchInterval: ({ state: { data } }) => (data && isMoving(data) ? pollMs : false),
  })

/** The progress of a job, its result for each saga, and its undo. */
export function BulkProgress({ job, onClose }: { job: SagaBulkJob; onClose: () => void }) {
  const client = useQueryClient()
  const mayChange = useMay('sagas.change')
  const [error, setError] = useState<unknown>()
  const ask = async (verb: 'cancel' | 'undo') => {
    setError(undefined)
    try {
      await send<SagaBulkJob>('POST', `${addressOf(String(job.id))}/${verb}`, undefined, {
        tenant: job.tenant,
      })
      await client.invalidateQueries({ queryKey: ['sagas-bulk'] })
    } catch (failure) {
      setError(failure)
    }
  }
  const isUndo = job.state === 'undoing' || job.state === 'undone'
  const reached = isUndo ? job.undone + job.undo_failed : job.done + job.failed
  const all = isUndo ? job.done + job.undone : job.matched
  return (
    <>
      <p role="status" className="mb-2">
        {sentenceOf(job)}
      </p>
      <progress
        aria-label="Progress"
        value={reached}
        max={Math.max(all, 1)}
        className="mb-3 h-2 w-full accent-accent"
      />
      {error !== undefined && <Problem error={error} />}
      {!isMoving(job) && <Results job={job} />}
      <ModalActions>
        {mayChange && job.state === 'running' && (
          <Button onClick={() => void ask('cancel')}>Cancel the job</Button>
        )}
        {mayChange && canUndo(job) && (
          <Button look="danger" onClick={() => void ask('undo')}>
            Undo
          </Button>
        )}
        <Button onClick={onClose}>Close</Button>
      </ModalActions>
    </>
  )
}

const canUndo = ({ action, state, done }: SagaBulkJob) =>
  action === 'resolve' && ['finished', 'canceled', 'failed'].includes(state) && done > 0

const doneWords = { resolve: 'resolved', note: 'noted' } as const satisfies Record<
  SagaBulkJob['action'],
  string
>

export function sentenceOf(job: SagaBulkJob): string {
  const word = doneWords[job.action]
  const failed = job.failed > 0 ? `, ${count(job.failed)} could not be ${word}` : ''
  const doneSo = `${countOf(job.done, 'saga')} ${word}${failed}`
  const kept =
    job.undo_failed > 0 ? `, ${count(job.undo_failed)} stay resolved because they have changed since` : ''
  switch (job.state) {
    case 'running':
      return `${job.action === 'note' ? 'Noting' : 'Resolving'}: ${count(job.done + job.failed)} of ${count(job.matched)}…`
    case 'finished':
      return `${doneSo}.`
    case 'undoing':
      return `Undoing: ${count(job.undone)}…`
    case 'undone':
      return `${countOf(job.undone, 'resolution')} undone${kept}.`
    case 'canceled':
      return `The job was canceled. ${doneSo}; the other sagas are unchanged.`
    case 'failed':
      return `The job has stopped after an unexpected error. ${doneSo}; the other sagas are unchanged.`
  }
}

const states: Record<SagaBulkResult['state'], { tone: Tone; text: string }> = {
  pending: { tone: 'plain', text: 'not reached' },
  done: { tone: 'good', text: 'done' },
  failed: { tone: 'bad', text: 'not done' },
  undone: { tone: 'warn', text: 'undone' },
  undo_failed: { tone: 'bad', text: 'not undone' },
}

const stateOptions = Object.entries(states).map(([value, { text }]) => ({ value, label: text }))

function Results({ job: { id, tenant, state } }: { job: SagaBulkJob }) {
  const [wanted, setWanted] = useState<string>()
  const query = useInfiniteQuery({
    queryKey: ['sagas-bulk', tenant, id, 'results', state, wanted],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      getPage<SagaBulkResult>(
        `${addressOf(String(id))}/results`,
        { tenant, state: wanted, per_page: 50, after: pageParam },
        signal,
      ),
    getNextPageParam: (page) => page.nextCursor,
    select: ({ pages }) => pages.flatMap(({ rows }) => rows),
  })
  return (
    <section aria-label="Results">
      <div className="mb-1 flex items-center gap-2">
        <h3 className="flex-1 font-semibold">Results</h3>
        <FilterSelect
          label="Result"
          all="All results"
          options={stateOptions}
          value={wanted}
          onChange={setWanted}
        />
      </div>
      <Shown query={query}>
        {(rows) => (
          <div className="max-h-80 overflow-y-auto rounded-md border">
            <DataTable
              label="Results"
              rows={rows}
              rowKey={(row) => row.position}
              empty={<p className="p-3 text-quiet">No saga has this result.</p>}
              columns={[
                {
                  header: 'Saga',
                  cell: ({ saga_id }) => (
                    <TextLink to="/sagas/$sagaId" params={{ sagaId: saga_id }} search={{ tenant }} dir="auto">
                      {saga_id}
                    </TextLink>
                  ),
                },
                {
                  header: 'Result',
                  cell: (row) => (
                    <>
                      <Badge tone={states[row.state].tone}>{states[row.state].text}</Badge>{' '}
                      <span dir="auto" className="text-quiet">
                        {row.error}
                      </span>
                    </>
                  ),
                },
              ]}
            />
          </div>
        )}
      </Shown>
      {query.hasNextPage && (
        <Button
          className="mt-2"
          disabled={query.isFetchingNextPage}
          onClick={() => void query.fetchNextPage()}
        >
          Load more
        </Button>
      )}
    </section>
  )
}
