import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { send } from '../../api/client'
import { useMay } from '../../api/session'
import { ActionDialog, textOf } from '../../components/action-dialog'
import { Button } from '../../components/button'
import { TextArea } from '../../components/fields'
import { Problem } from '../../components/states'
import { Time } from '../../components/time'
import type { SagaDetail, SagaNote } from '../../generated/types.gen'
import { type SagaKey, sagaPath, sagaQueryKey } from './saga-queries'

const noteCharsMax = 10_000

/** The operators' notes about the saga, and a field for another one. */
export function SagaNotes({ saga, notes }: { saga: SagaKey; notes: readonly SagaNote[] }) {
  const mayChange = useMay('sagas.change')
  return (
    <>
      {notes.length === 0 && <p className="mb-3 text-quiet">Nobody has written a note yet.</p>}
      <ol className="mb-4 grid gap-3 empty:hidden">
        {notes.map((note) => (
          <li key={note.id} className="rounded-md border bg-page px-3 py-2">
            <p className="mb-1 text-sm text-quiet">
              <span className="font-medium text-ink" dir="auto">
                {note.author.username}
              </span>{' '}
              <Time at={note.created_at} />
            </p>
            <p className="whitespace-pre-wrap" dir="auto">
              {note.body}
            </p>
          </li>
        ))}
      </ol>
      {mayChange && <NewNote saga={saga} />}
    </>
  )
}

function NewNote({ saga }: { saga: SagaKey }) {
  const client = useQueryClient()
  const [text, setText] = useState('')
  const adding = useMutation({
    mutationFn: (body: string) =>
      send<SagaNote>('POST', `${sagaPath(saga)}/notes`, { body }, { tenant: saga.tenant }),
    async onSuccess() {
      setText('')
      await client.invalidateQueries({ queryKey: sagaQueryKey(saga) })
    },
  })
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        if (!adding.isPending) adding.mutate(text)
      }}
    >
      <TextArea
        label="New note"
        rows={3}
        maxLength={noteCharsMax}
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      {adding.isError && <Problem error={adding.error} />}
      <div className="mt-3 flex items-center gap-3">
        <Button type="submit" disabled={adding.isPending || text.trim() === ''}>
          Add note
        </Button>
        <span role="status" className="text-sm text-quiet">
          {adding.isSuccess && text === '' && 'The note is stored.'}
        </span>
      </div>
    </form>
  )
}

/** Resolves the failure of the saga. */
export function ResolveDialog({ saga, onClose }: { saga: SagaKey; onClose: () => void }) {
  const client = useQueryClient()
  const resolve = async (form: FormData) => {
    const note = textOf(form, 'note')
    await send<SagaDetail>('POST', `${sagaPath(saga)}/resolve`, { note }, { tenant: saga.tenant })
    await client.invalidateQueries({ queryKey: sagaQueryKey(saga) })
    onClose()
  }
  return (
    <ActionDialog title="Resolve saga" action="Resolve" run={resolve} onClose={onClose}>
      <p className="mb-3 text-sm text-quiet">
        Resolving says that an operator has dealt with the failure. Compensations that were given up no longer
        make the saga an Error.
      </p>
      <TextArea
        label="Note"
        name="note"
        hint="What was done. It stays in the log of the saga."
        required
        maxLength={noteCharsMax}
      />
    </ActionDialog>
  )
}
