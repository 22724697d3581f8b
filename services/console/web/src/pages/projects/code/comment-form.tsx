import { type FormEvent, useRef, useState } from 'react'
import { Button } from '../../../components/button'
import { TextArea } from '../../../components/fields'
import { Problem } from '../../../components/states'
import { useFocusReturn } from '../../../components/use-focus-return'
import { useAttachments, WithAttachments, withMarkdown } from './attach-files'

/**
 * @param draft a text that was typed earlier
 * @param onCancel unset: the form stays open
 */
export function CommentForm({
  label,
  action = 'Add comment',
  draft = '',
  onDraft,
  add,
  onCancel,
}: {
  label: string
  /** The label of the button. */
  action?: string
  draft?: string
  onDraft?: (note: string) => void
  add: (note: string) => Promise<unknown>
  onCancel?: () => void
}) {
  useFocusReturn(onCancel !== undefined)
  const [note, setNote] = useState(draft)
  const field = useRef<HTMLTextAreaElement>(null)
  const [error, setError] = useState<unknown>()
  const [busy, setBusy] = useState(false)
  const write = (text: string) => {
    setNote(text)
    onDraft?.(text)
  }
  const attachments = useAttachments((markdown) => {
    const { current } = field
    if (current) write(withMarkdown(current, markdown))
  })
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    setBusy(true)
    setError(undefined)
    try {
      await add(note)
      // A text that was typed while the comment was being sent is the next comment.
      if (!field.current || field.current.value === note) write('')
      attachments.forgetStored()
      onCancel?.()
    } catch (failure) {
      setError(failure)
    }
    setBusy(false)
  }
  return (
    <form onSubmit={(event) => void submit(event)} className="font-sans">
      <WithAttachments attachments={attachments}>
        <TextArea
          ref={field}
          label={label}
          value={note}
          required
          rows={3}
          autoFocus={onCancel !== undefined}
          onChange={(event) => write(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === 'Escape' && note === '') onCancel?.()
            if (event.key === 'Enter' && (event.ctrlKey || event.metaKey))
              event.currentTarget.form?.requestSubmit()
          }}
        />
      </WithAttachments>
      {error !== undefined && (
        <div className="mb-3">
          <Problem error={error} />
        </div>
      )}
      <div className="flex gap-2">
        <Button type="submit" look="primary" disabled={busy || attachments.isBusy || note.trim() === ''}>
          {action}
        </Button>
        {onCancel && <Button onClick={onCancel}>Cancel</Button>}
      </div>
    </form>
  )
}
