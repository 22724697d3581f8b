import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { send } from '../../api/client'
import { Button } from '../../components/button'
import { TextArea } from '../../components/fields'
import { Modal, ModalActions } from '../../components/modal'
import { Loading, Problem, Shown } from '../../components/states'
import { count, countOf } from '../../lib/format'
import { type BulkJob, BulkProgress, useBulkJob } from './bulk-progress'

export type BulkFilter = Record<string, string | boolean>

interface Preview {
  matched: number
  statuses: Record<string, number>
}

/** Only sagas in this status can be resolved, so a job takes no others. */
const resolvable = { status: 'Error' } as const

/** Whether a job with this filter can find a saga at all. */
export const canResolve = (filter: BulkFilter): boolean =>
  Object.keys(filter).length > 0 && (filter.status === undefined || filter.status === resolvable.status)

/**
 * Resolves all sagas that a filter finds: says how many first, then shows the job.
 *
 * @param filter what is to be resolved; unset: nothing
 * @param job number of the job that is shown, from the address
 */
export function BulkDialogs({
  tenant,
  filter,
  onFilter,
  job,
  onJob,
}: {
  tenant: string | undefined
  filter: BulkFilter | undefined
  onFilter: (filter: undefined) => void
  job: string | undefined
  onJob: (job: string | undefined) => void
}) {
  return (
    <>
      {filter && (
        <BulkResolve
          tenant={tenant}
          filter={filter}
          onStarted={({ id }) => {
            onFilter(undefined)
            onJob(String(id))
          }}
          onClose={() => onFilter(undefined)}
        />
      )}
      {job && <BulkJobDialog tenant={tenant} id={job} onClose={() => onJob(undefined)} />}
    </>
  )
}

function BulkResolve({
  tenant,
  filter,
  onStarted,
  onClose,
}: {
  tenant: string | undefined
  filter: BulkFilter
  onStarted: (job: BulkJob) => void
  onClose: () => void
}) {
  const wanted = { ...filter, ...resolvable }
  const preview = useQuery({
    queryKey: ['sagas', 'bulk-preview', tenant, wanted],
    queryFn: () => send<Preview>('POST', '/sagas/bulk/preview', { tenant, filter: wanted }),
    staleTime: 0,
    gcTime: 0,
    refetchOnWindowFocus: false,
  })
  const matched = preview.data?.matched
  return (
    <Modal title={titleOf(matched)} onClose={onClose}>
      {matched !== undefined ? (
        <BulkForm
          matched={matched}
          start={(note) => startJob(tenant, wanted, note, matched)}
          onStarted={onStarted}
          onClose={onClose}
        />
      ) : preview.isError ? (
        <Problem error={preview.error} retry={preview.refetch} />
      ) : (
        <Loading what="Counting the sagas…" />
      )}
    </Modal>
  )
}

const titleOf = (matched: number | undefined) =>
  matched === undefined ? 'Resolve all' : `Resolve ${countOf(matched, 'saga')}`

/** A job that was started before, by its number in the address. */
function BulkJobDialog({
  tenant,
  id,
  onClose,
}: {
  tenant: string | undefined
  id: string
  onClose: () => void
}) {
  const client = useQueryClient()
  const query = useBulkJob(tenant, id)
  const close = () => {
    void client.invalidateQueries({ queryKey: ['sagas', 'counts'] })
    void client.invalidateQueries({ queryKey: ['sagas', 'stats'] })
    onClose()
  }
  return (
    <Modal title={titleOf(query.data?.matched)} onClose={close} wide>
      <Shown query={query}>{(job) => <BulkProgress job={job} onClose={close} />}</Shown>
    </Modal>
  )
}

const startJob = (tenant: string | undefined, filter: BulkFilter, note: string, expected: number) =>
  send<BulkJob>('POST', '/sagas/bulk', { tenant, action: 'resolve', note, filter, expected_count: expected })

function BulkForm({
  matched,
  start,
  onStarted,
  onClose,
}: {
  matched: number
  start: (note: string) => Promise<BulkJob>
  onStarted: (job: BulkJob) => void
  onClose: () => void
}) {
  const [note, setNote] = useState('')
  const [isBusy, setIsBusy] = useState(false)
  const [error, setError] = useState<unknown>()
  const submit = async () => {
    setIsBusy(true)
    setError(undefined)
    try {
      onStarted(await start(note))
    } catch (failure) {
      setError(failure)
      setIsBusy(false)
    }
  }
  if (matched === 0) {
    return (
      <>
        <p>The filter finds no saga in status Error, so there is nothing to resolve.</p>
        <ModalActions>
          <Button onClick={onClose}>Close</Button>
        </ModalActions>
      </>
    )
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        void submit()
      }}
    >
      <p className="mb-3 text-sm text-quiet">
        The filter finds {countOf(matched, 'saga')} in status Error. Resolving says that an operator has dealt
        with the failure; each saga keeps the note in its log. You can undo it afterwards.
      </p>
      <TextArea
        label="Note"
        required
        maxLength={10_000}
        value={note}
        onChange={(event) => setNote(event.target.value)}
      />
      {error !== undefined && <Problem error={error} />}
      <ModalActions>
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" look="primary" disabled={isBusy || note.trim() === ''}>
          Resolve {count(matched)} {matched === 1 ? 'saga' : 'sagas'}
        </Button>
      </ModalActions>
    </form>
  )
}
