import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { send } from '../../api/client'
import { Button } from '../../components/button'
import { TextArea } from '../../components/fields'
import { Modal, ModalActions } from '../../components/modal'
import { Loading, Problem } from '../../components/states'
import { count, countOf } from '../../lib/format'
import { type BulkJob, BulkProgress } from './bulk-progress'

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

/** Resolves all sagas that a filter finds: says how many first, then how the job proceeds, and undoes it. */
export function BulkResolve({
  tenant,
  filter,
  onClose,
}: {
  tenant: string | undefined
  filter: BulkFilter
  onClose: () => void
}) {
  const client = useQueryClient()
  const [job, setJob] = useState<BulkJob>()
  const wanted = { ...filter, ...resolvable }
  const preview = useQuery({
    queryKey: ['sagas', 'bulk-preview', tenant, wanted],
    queryFn: () => send<Preview>('POST', '/sagas/bulk/preview', { tenant, filter: wanted }),
    staleTime: 0,
    gcTime: 0,
    refetchOnWindowFocus: false,
  })
  const close = () => {
    void client.invalidateQueries({ queryKey: ['sagas'] })
    onClose()
  }
  const matched = job?.matched ?? preview.data?.matched
  const title = matched === undefined ? 'Resolve all' : `Resolve ${countOf(matched, 'saga')}`
  return (
    <Modal title={title} onClose={close} wide={job !== undefined}>
      {job ? (
        <BulkProgress first={job} onClose={close} />
      ) : preview.data ? (
        <BulkForm
          matched={preview.data.matched}
          start={(note) => startJob(tenant, wanted, note, preview.data.matched)}
          onStarted={setJob}
          onClose={close}
        />
      ) : preview.isError ? (
        <Problem error={preview.error} retry={preview.refetch} />
      ) : (
        <Loading what="Counting the sagas…" />
      )}
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
        with the failure; each saga keeps the note in its log. You can undo it here afterwards.
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
