import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { send } from '../../api/client'
import { Button } from '../../components/button'
import { TextArea } from '../../components/fields'
import { Modal, ModalActions } from '../../components/modal'
import { Loading, Problem, Shown } from '../../components/states'
import type { SagaBulkJob, SagaBulkPreview } from '../../generated/types.gen'
import { countOf } from '../../lib/format'
import { BulkProgress, useBulkJob } from './bulk-progress'

export type BulkFilter = Record<string, string | boolean>

/** The action of a bulk job on each saga that its filter matches. */
export interface BulkRequest {
  action: SagaBulkJob['action']
  filter: BulkFilter
}

/** Only sagas in this status can be resolved, so a job selects no others. */
const resolvable = { status: 'Error' } as const

/** Returns whether a filter is empty, because the API refuses a job without a filter. */
export const isEmpty = (filter: BulkFilter): boolean => Object.keys(filter).length === 0

/** Returns whether a job that resolves can match any saga with this filter. */
export const canResolve = (filter: BulkFilter): boolean =>
  !isEmpty(filter) && (filter.status === undefined || filter.status === resolvable.status)

const words = {
  resolve: {
    title: (sagas: string) => `Resolve ${sagas}`,
    submit: (sagas: string) => `Resolve ${sagas}`,
    none: 'The filter finds no saga in status Error, so there is nothing to resolve.',
    explained: (sagas: string) =>
      `The filter finds ${sagas} in status Error. Resolving says that an operator has dealt with the failure; each saga keeps the note in its log. You can undo it afterwards.`,
  },
  note: {
    title: (sagas: string) => `Note on ${sagas}`,
    submit: (sagas: string) => `Add note to ${sagas}`,
    none: 'The filter finds no saga.',
    explained: (sagas: string) => `The filter finds ${sagas}. Each gets the note, which cannot be undone.`,
  },
} as const satisfies Record<SagaBulkJob['action'], unknown>

/**
 * Resolves all sagas of a filter, or adds a note to them: shows their number first, then the job.
 *
 * @param request unset: there is no request
 * @param job number of the displayed job, from the address
 */
export function BulkDialogs({
  tenant,
  request,
  onRequest,
  job,
  onJob,
}: {
  tenant: string | undefined
  request: BulkRequest | undefined
  onRequest: (request: undefined) => void
  job: string | undefined
  onJob: (job: string | undefined) => void
}) {
  return (
    <>
      {request && (
        <BulkStart
          tenant={tenant}
          {...request}
          onStarted={({ id }) => {
            onRequest(undefined)
            onJob(String(id))
          }}
          onClose={() => onRequest(undefined)}
        />
      )}
      {job && <BulkJobDialog tenant={tenant} id={job} onClose={() => onJob(undefined)} />}
    </>
  )
}

function BulkStart({
  tenant,
  action,
  filter,
  onStarted,
  onClose,
}: BulkRequest & {
  tenant: string | undefined
  onStarted: (job: SagaBulkJob) => void
  onClose: () => void
}) {
  const wanted = action === 'resolve' ? { ...filter, ...resolvable } : filter
  const preview = useQuery({
    queryKey: ['sagas', 'bulk-preview', tenant, wanted],
    queryFn: () => send<SagaBulkPreview>('POST', '/sagas/bulk/preview', { tenant, filter: wanted }),
    staleTime: 0,
    gcTime: 0,
    refetchOnWindowFocus: false,
  })
  const matched = preview.data?.matched
  return (
    <Modal title={titleOf(action, matched)} onClose={onClose}>
      {matched !== undefined ? (
        <BulkForm
          action={action}
          matched={matched}
          start={(note) => startJob(tenant, { action, filter: wanted }, note, matched)}
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

const titleOf = (action: SagaBulkJob['action'], matched: number | undefined) =>
  words[action].title(matched === undefined ? 'all' : countOf(matched, 'saga'))

/** A job that was started earlier, by its number in the address. */
export function BulkJobDialog({
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
    <Modal
      title={query.data ? titleOf(query.data.action, query.data.matched) : 'Bulk job'}
      onClose={close}
      wide
    >
      <Shown query={query}>{(job) => <BulkProgress job={job} onClose={close} />}</Shown>
    </Modal>
  )
}

const startJob = (tenant: string | undefined, request: BulkRequest, note: string, expected: number) =>
  send<SagaBulkJob>('POST', '/sagas/bulk', { tenant, ...request, note, expected_count: expected })

function BulkForm({
  action,
  matched,
  start,
  onStarted,
  onClose,
}: {
  action: SagaBulkJob['action']
  matched: number
  start: (note: string) => Promise<SagaBulkJob>
  onStarted: (job: SagaBulkJob) => void
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
        <p>{words[action].none}</p>
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
      <p className="mb-3 text-sm text-quiet">{words[action].explained(countOf(matched, 'saga'))}</p>
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
          {words[action].submit(countOf(matched, 'saga'))}
        </Button>
      </ModalActions>
    </form>
  )
}
