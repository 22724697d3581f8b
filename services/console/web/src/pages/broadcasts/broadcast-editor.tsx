import { contrastOfColors, readableColor } from '@switchyard/banner/text'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { get, send } from '../../api/client'
import { Button } from '../../components/button'
import { CheckboxField, SelectField, TextArea, TextField } from '../../components/fields'
import { MessageText } from '../../components/message-text'
import { Panel } from '../../components/page'
import { Problem, Shown } from '../../components/states'
import type { BroadcastMessage } from '../../generated/types.gen'
import { localTime } from '../../lib/local-time'

interface Draft {
  message: string
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

const newDraft = (): Draft => ({
  message: '',
  starts_at: localTime(new Date().toISOString()),
  ends_at: localTime(new Date(Date.now() + hourMs).toISOString()),
  color: '#1D4ED8',
  font: '#FFFFFF',
  target_path: '',
  broadcast_type: 'banner',
  dismissable: false,
})

const draftOf = (message: BroadcastMessage): Draft => ({
  ...message,
  starts_at: localTime(message.starts_at),
  ends_at: localTime(message.ends_at),
  target_path: message.target_path ?? '',
})

/** @param edit the id of a message, or `new` */
export function BroadcastEditor({ edit, onClose }: { edit: string; onClose: () => void }) {
  const isNew = edit === 'new'
  const message = useQuery({
    queryKey: ['broadcast', edit],
    queryFn: ({ signal }) =>
      get<BroadcastMessage>(`/broadcast_messages/${encodeURIComponent(edit)}`, {}, signal),
    enabled: !isNew,
    // What somebody is typing is not replaced.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  })
  if (isNew) return <Editor first={newDraft()} onClose={onClose} />
  return (
    <Shown query={message}>
      {(found) => <Editor id={found.id} first={draftOf(found)} onClose={onClose} />}
    </Shown>
  )
}

function Editor({ id, first, onClose }: { id?: number; first: Draft; onClose: () => void }) {
  const client = useQueryClient()
  const [draft, setDraft] = useState(first)
  const [problem, setProblem] = useState<unknown>()
  const [busy, setBusy] = useState(false)
  const change = (part: Partial<Draft>) => setDraft((before) => ({ ...before, ...part }))
  const save = async (event: FormEvent) => {
    event.preventDefault()
    setBusy(true)
    setProblem(undefined)
    const body = {
      ...draft,
      starts_at: new Date(draft.starts_at).toISOString(),
      ends_at: new Date(draft.ends_at).toISOString(),
    }
    try {
      if (id === undefined) await send('POST', '/broadcast_messages', body)
      else await send('PUT', `/broadcast_messages/${id}`, body)
      await client.invalidateQueries({ queryKey: ['broadcasts'] })
      onClose()
    } catch (error) {
      setProblem(error)
      setBusy(false)
    }
  }
  return (
    <Panel name={id === undefined ? 'New message' : 'Edit message'}>
      <form onSubmit={(event) => void save(event)}>
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
        <TextField
          label="Starts"
          type="datetime-local"
          required
          value={draft.starts_at}
          onChange={(event) => change({ starts_at: event.target.value })}
        />
        <TextField
          label="Ends"
          type="datetime-local"
          required
          value={draft.ends_at}
          onChange={(event) => change({ ends_at: event.target.value })}
        />
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
        <TextField
          label="Pages"
          value={draft.target_path}
          maxLength={255}
          hint="Paths that show it; * stands for anything. Empty: all pages."
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
      <div className="rounded-md border px-4 py-1.5 text-center break-words" style={style}>
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
