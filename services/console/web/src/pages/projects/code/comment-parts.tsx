import { useState } from 'react'
import { ActionDialog } from '../../../components/action-dialog'
import { Button } from '../../../components/button'
import { Time } from '../../../components/time'
import { visibleControls } from '../../../lib/format'
import { CommentForm } from './comment-form'
import {
  type CommentChanges,
  type CommentThread,
  type CommitComment,
  useCommentTools,
} from './comments-context'
import { NoteText } from './note-text'

const authorOf = ({ author }: CommitComment) => author?.name ?? 'A deleted user'

const beginningChars = 40

/** Returns the first words of a comment, for the names of its actions. */
function quoted({ note }: CommitComment): string {
  const characters = [...visibleControls(note.replace(/\s+/g, ' ').trim())]
  const beginning = characters.slice(0, beginningChars).join('')
  return `“${beginning}${characters.length > beginningChars ? '…' : ''}”`
}

/** A comment with its replies. @param about subject of the comment, where its position does not show it */
export const Thread = ({ thread, about }: { thread: CommentThread; about?: string }) => (
  <article
    aria-label={`Comment by ${authorOf(thread.first)}`}
    className="rounded-lg border bg-panel px-3 py-2 font-sans text-sm"
  >
    <CommentBody key={thread.first.id} comment={thread.first} about={about} />
    {thread.replies.map((reply) => (
      <article
        key={reply.id}
        aria-label={`Reply by ${authorOf(reply)}`}
        className="mt-2 ml-1 border-l-2 py-1 pl-3"
      >
        <CommentBody comment={reply} />
      </article>
    ))}
    <ReplyPart thread={thread} />
  </article>
)

function CommentBody({ comment, about }: { comment: CommitComment; about?: string | undefined }) {
  return (
    <>
      <p className="mb-1 flex flex-wrap items-baseline gap-x-2 text-quiet">
        <span dir="auto" className="font-medium text-ink">
          {authorOf(comment)}
        </span>
        <Time at={comment.created_at} />
        {comment.edited && <span>edited</span>}
        {about && <span>{about}</span>}
      </p>
      <CommentText comment={comment} />
    </>
  )
}

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
      <Button look="quiet" aria-label={`Edit ${quoted(comment)}`} onClick={onEdit}>
        Edit
      </Button>
      <Button look="quiet" aria-label={`Delete ${quoted(comment)}`} onClick={() => setDeleting(true)}>
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

function ReplyPart({ thread }: { thread: CommentThread }) {
  const { reply, drafts } = useCommentTools()
  const [replying, setReplying] = useState(false)
  if (!reply) return null
  if (!replying) {
    return (
      <Button
        look="quiet"
        className="mt-1"
        aria-label={`Reply to ${quoted(thread.first)}`}
        onClick={() => setReplying(true)}
      >
        Reply
      </Button>
    )
  }
  return (
    <div className="mt-2">
      <CommentForm
        label="Your reply"
        action="Add reply"
        draft={drafts.get(thread.id) ?? ''}
        onDraft={(note) => drafts.set(thread.id, note)}
        add={(note) => reply(thread, note)}
        onCancel={() => setReplying(false)}
      />
    </div>
  )
}
