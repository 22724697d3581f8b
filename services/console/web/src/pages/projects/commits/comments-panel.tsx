import { Panel } from '../../../components/page'
import { CommentForm } from '../code/comment-form'
import { Thread } from '../code/comment-parts'
import type { CommentThread } from '../code/comments-context'

/** Comments on the whole commit, and on lines of files that the shown diff does not have. */
export function CommentsPanel({
  threads,
  add,
}: {
  threads: readonly CommentThread[]
  /** Unset when the session may not comment. */
  add: ((note: string) => Promise<unknown>) | undefined
}) {
  return (
    <Panel name="Comments">
      <div className="flex max-w-3xl flex-col gap-3">
        {threads.map((thread) => (
          <Thread
            key={thread.id}
            thread={thread}
            {...(thread.path !== null && { about: `on ${thread.path}, line ${thread.line}` })}
          />
        ))}
        {threads.length === 0 && <p className="text-quiet">Nobody has commented on the whole commit.</p>}
        {add && <CommentForm label="New comment" add={add} />}
      </div>
    </Panel>
  )
}
