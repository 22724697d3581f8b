import { type FormEvent, useRef, useState } from 'react'
import { ActionDialog } from '../../../components/action-dialog'
import { Button } from '../../../components/button'
import { TextArea } from '../../../components/fields'
import { Problem } from '../../../components/states'
import { Time } from '../../../components/time'
import { useAttachments, WithAttachments, withMarkdown } from './attach-files'
import { type CommentChanges, type CommitComment, useCommentTools } from './comments-context'
import { NoteText } from './note-text'

export const Comment = ({ comment, about }: { comment: CommitComment; about?: string }) => (
  <article className="rounded-lg border bg-panel px-3 py-2 font-sans text-sm">
    <p className="mb-1 flex flex-wrap items-baseline gap-x-2 text-quiet">
      <span dir="auto" className="font-medium text-ink">
        {comment.author?.name ?? 'A deleted user'}
      </span>
      <Time at={comment.created_at} />
      {comment.edited && <span>edited</span>}
      {about && <span>{about}</span>}
    </p>
    <CommentText comment={comment} />
  </article>
)

function CommentText({ comment }: { comment: CommitComment }) {
  const changes = useCommentTools().changesOf(comment)
  const [editing, setEditing] = useState(false)
  if (changes && editing) {
    return (
      <CommentForm
        label="Edit comment"
        action="Save"
        draft={comment.note}
        add={(note) => changes.edit(comment, note)}
        onCancel={() => setEditing(false)}
      />
    )
  }
  return (
    <>
      <NoteText note={comment.note} />
      {changes && <CommentButtons comment={comment} changes={changes} onEdit={() => setEditing(true)} />}
    </>
  )
}

function CommentButtons({
  comment,
  changes,
  onEdit,
}: {
  comment: CommitComment
  changes: CommentChanges
  onEdit: () => void
}) {
  const [deleting, setDeleting] = useState(false)
  return (
    <div className="mt-1 flex gap-2">
      <Button look="quiet" onClick={onEdit}>
        Edit
      </Button>
      <Button look="quiet" onClick={() => setDeleting(true)}>
        Delete
      </Button>
      {deleting && (
        <ActionDialog
          title="Delete comment"
          action="Delete"
          look="danger"
          run={() => changes.remove(comment)}
          onClose={() => setDeleting(false)}
        >
          <p dir="auto" className="mb-3 line-clamp-3 whitespace-pre-wrap">
            {comment.note}
          </p>
        </ActionDialog>
      )}
    </div>
  )
}

/**
 * @param draft a text that was typed before
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
  /** The name of the button. */
  action?: string
  draft?: string
  onDraft?: (note: string) => void
  add: (note: string) => Promise<unknown>
  onCancel?: () => void
}) {
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
      // What was typed while the comment was on its way is the next one.
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
