import { contrastOfColors, readableColor } from '@switchyard/banner/text'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { getVersioned, send, type Versioned } from '../../api/client'
import { Button } from '../../components/button'
import { CheckboxField, SelectField, TextArea, TextField } from '../../components/fields'
import { MessageText } from '../../components/message-text'
import { Panel } from '../../components/page'
import { Problem, Shown } from '../../components/states'
import { TimeField } from '../../components/time-field'
import type { BroadcastMessage } from '../../generated/types.gen'
import { useEdit } from '../../lib/edit-version'
import { serverNow } from '../../lib/server-clock'

interface Draft {
  message: string
  /** In ISO 8601, as the API has it; '' while the field has no time. */
  starts_at: string
  ends_at: string
  color: string
  font: string
  target_path: string
  broadcast_type: BroadcastMessage['broadcast_type']
  dismissable: boolean
}

const contrastMin = 4.5
const hourMs = 3_600_000
const hexColor = /^#(?:[0-9a-f]{3}|[0-9a-f]{6})$/i

/** Truncates to seconds, as the fields do, so that nothing invisible is stored. */
const wholeSeconds = (ms: number) => new Date(ms - (ms % 1000)).toISOString()

const newDraft = (): Draft => ({
  message: '',
  starts_at: wholeSeconds(serverNow()),
  ends_at: wholeSeconds(serverNow() + hourMs),
  color: '#1D4ED8',
  font: '#FFFFFF',
  target_path: '',
  broadcast_type: 'banner',
  dismissable: false,
})

const draftOf = (message: BroadcastMessage): Draft => ({
  message: message.message,
  starts_at: message.starts_at,
  ends_at: message.ends_at,
  color: message.color,
  font: message.font,
  target_path: message.target_path ?? '',
  broadcast_type: message.broadcast_type,
  dismissable: message.dismissable,
})

/** @param edit the id of a message, or `new` */
export function BroadcastEditor({ edit, onClose }: { edit: string; onClose: () => void }) {
  const isNew = edit === 'new'
  const message = useQuery({
    queryKey: ['broadcast', edit],
    queryFn: ({ signal }) => getVersioned<BroadcastMessage>(messagePath(edit), signal),
    enabled: !isNew,
    // Typed text must not be replaced.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  })
  if (isNew) return <NewMessage onClose={onClose} />
  return <Shown query={message}>{(found) => <StoredMessage found={found} onClose={onClose} />}</Shown>
}

const messagePath = (id: string | number) => `/broadcast_messages/${encodeURIComponent(id)}`

function NewMessage({ onClose }: { onClose: () => void }) {
  const [first] = useState(newDraft)
  const save = (draft: Draft) => send('POST', '/broadcast_messages', draft)
  return <Editor name="New message" first={first} save={save} onClose={onClose} />
}

function StoredMessage({ found, onClose }: { found: Versioned<BroadcastMessage>; onClose: () => void }) {
  const { first, save } = useEdit(messagePath(found.resource.id), found, draftOf)
  return <Editor name="Edit message" first={first} save={save} onClose={onClose} />
}

function Editor({
  name,
  first,
  save,
  onClose,
}: {
  name: string
  first: Draft
  save: (draft: Draft) => Promise<unknown>
  onClose: () => void
}) {
  const client = useQueryClient()
  const [draft, setDraft] = useState(first)
  const [problem, setProblem] = useState<unknown>()
  const [busy, setBusy] = useState(false)
  const change = (part: Partial<Draft>) => setDraft((before) => ({ ...before, ...part }))
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    setBusy(true)
    setProblem(undefined)
    try {
      await save(draft)
      await client.invalidateQueries()
      onClose()
    } catch (error) {
      setProblem(error)
      setBusy(false)
    }
  }
  return (
    <Panel name={name}>
      <form onSubmit={(event) => void submit(event)}>
        <EditorFields draft={draft} change={change} />
        <Preview draft={draft} />
        {problem !== undefined && <Problem error={problem} />}
        <div className="mt-4 flex gap-2">
          <Button type="submit" look="primary" disabled={busy}>
            Save
          </Button>
          <Button onClick={onClose}>Cancel</Button>
        </div>
      </form>
    </Panel>
  )
}

function EditorFields({ draft, change }: { draft: Draft; change: (part: Partial<Draft>) => void }) {
  return (
    <>
      <TextArea
        label="Message"
        required
        autoFocus
        maxLength={10_000}
        value={draft.message}
        onChange={(event) => change({ message: event.target.value })}
        hint="**strong**, *emphasis*, ~~struck~~, `code` and [links](https://example.com)"
      />
      <div className="grid gap-x-4 sm:grid-cols-2">
        <TimeField label="Starts" value={draft.starts_at} onChange={(starts_at) => change({ starts_at })} />
        <TimeField label="Ends" value={draft.ends_at} onChange={(ends_at) => change({ ends_at })} />
        <TextField
          label="Background color"
          value={draft.color}
          maxLength={7}
          problem={hexColor.test(draft.color) ? undefined : 'A color is # and 3 or 6 hex digits.'}
          onChange={(event) => change({ color: event.target.value })}
        />
        <TextField
          label="Text color"
          value={draft.font}
          maxLength={7}
          problem={hexColor.test(draft.font) ? undefined : 'A color is # and 3 or 6 hex digits.'}
          onChange={(event) => change({ font: event.target.value })}
        />
        <TextArea
          label="Pages"
          rows={2}
          value={draft.target_path}
          maxLength={255}
          hint="Paths that show it, one a line; * stands for anything. Empty: all pages."
          onChange={(event) => change({ target_path: event.target.value })}
        />
        <SelectField
          label="Kind"
          value={draft.broadcast_type}
          onChange={(event) => change({ broadcast_type: event.target.value as Draft['broadcast_type'] })}
        >
          <option value="banner">Banner across the page</option>
          <option value="notification">Notification in a corner</option>
        </SelectField>
      </div>
      <CheckboxField
        label="Readers may dismiss it"
        checked={draft.dismissable}
        onChange={(event) => change({ dismissable: event.target.checked })}
      />
    </>
  )
}

function Preview({ draft }: { draft: Draft }) {
  const valid = hexColor.test(draft.color) && hexColor.test(draft.font)
  const contrast = valid ? contrastOfColors(draft.color, draft.font) : undefined
  const style = valid ? { background: draft.color, color: readableColor(draft.color, draft.font) } : {}
  return (
    <section aria-label="Preview" className="mt-3">
      <h3 className="mb-1 text-sm font-medium">Preview</h3>
      <div className="rounded-md border px-4 py-1.5 text-center" style={style}>
        <MessageText text={draft.message || 'Your message'} />
      </div>
      <p role="status" className="mt-1 min-h-6 text-sm text-warn">
        {contrast !== undefined && contrast < contrastMin
          ? `The contrast of the two colors is ${contrast.toFixed(1)}:1. Text needs ${contrastMin}:1 to be readable, so sites show it in ${readableColor(draft.color, draft.font) === '#fff' ? 'white' : 'black'}.`
          : ''}
      </p>
    </section>
  )
}
