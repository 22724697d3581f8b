import { Panel } from '../../../components/page'
import { Comment, CommentForm } from '../code/comment-parts'
import type { CommitComment } from '../code/comments-context'

/** Comments on the commit as a whole, and on lines of files that the shown diff does not have. */
export function CommentsPanel({
  comments,
  add,
}: {
  comments: readonly CommitComment[]
  /** Unset when the session may not comment. */
  add: ((note: string) => Promise<unknown>) | undefined
}) {
  return (
    <Panel name="Comments">
      <div className="flex max-w-3xl flex-col gap-3">
        {comments.map((comment) => (
          <Comment
            key={comment.id}
            comment={comment}
            {...(comment.path !== null && { about: `on ${comment.path}, line ${comment.line}` })}
          />
        ))}
        {comments.length === 0 && <p className="text-quiet">Nobody has commented on the whole commit.</p>}
        {add && <CommentForm label="New comment" add={add} />}
      </div>
    </Panel>
  )
}
