import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { getPage, segment, send } from '../../../api/client'
import { useSession } from '../../../api/session'
import type { CommitDiscussion, CommitNote } from '../../../generated/types.gen'
import type { CommentThread, CommitComment, Position } from '../code/comments-context'
import { useMayChange } from '../project-data'

const perPage = 100
const pagesMax = 20

/** Reads all comments of a commit, and returns functions to add, answer, edit and delete them. */
export function useComments(project: string, sha: string) {
  const client = useQueryClient()
  const commit = `${project}/repository/commits/${segment(sha)}`
  const discussions = `${commit}/discussions`
  const queryKey = [project, 'commit', sha, 'comments']
  const query = useQuery({
    queryKey,
    queryFn: async ({ signal }) => {
      const threads: CommentThread[] = []
      for (let page = 1; page <= pagesMax; page += 1) {
        const asked = { page, per_page: perPage }
        const { rows, nextPage } = await getPage<CommitDiscussion>(discussions, asked, signal)
        threads.push(...rows.flatMap(threadOf))
        if (nextPage === undefined) break
      }
      return threads
    },
  })
  const reload = () => client.invalidateQueries({ queryKey })
  const add = async (note: string, position?: Position) => {
    await send('POST', `${commit}/comments`, { note, ...position })
    // The form does not wait for the reload, so that it is emptied before the next comment is typed.
    void reload()
  }
  const reply = async ({ id }: CommentThread, body: string) => {
    await send('POST', `${discussions}/${id}/notes`, { body })
    await reload()
  }
  const addressOf = ({ discussion, id }: CommitComment) => `${discussions}/${discussion}/notes/${id}`
  const changes = {
    async edit(comment: CommitComment, body: string) {
      await send('PUT', addressOf(comment), { body })
      await reload()
    },
    async remove(comment: CommitComment) {
      await send('DELETE', addressOf(comment))
      await reload()
    },
  }
  const [drafts] = useState(() => new Map<string, string>())
  const { user } = useSession()
  const maintains = useMayChange('maintainer')
  const mayWrite = useMayChange('guest')
  const changesOf = ({ author }: CommitComment) =>
    maintains || (mayWrite && author?.id === user?.id) ? changes : undefined
  return { query, add, reply, drafts, changesOf }
}

/** Returns no thread when every note of the discussion was deleted. */
function threadOf({ id, notes }: CommitDiscussion): CommentThread[] {
  const [first, ...replies] = notes
  if (!first) return []
  const { position } = first
  return [
    {
      id,
      first: commentOf(first, id),
      replies: replies.map((note) => commentOf(note, id)),
      path: position?.new_path ?? null,
      line: position ? (position.new_line ?? position.old_line) : null,
      line_type: position ? (position.new_line === null ? 'old' : 'new') : null,
    },
  ]
}

const commentOf = (
  { id, author, body, created_at, updated_at }: CommitNote,
  discussion: string,
): CommitComment => ({
  id,
  author,
  created_at,
  discussion,
  note: body,
  edited: updated_at !== created_at,
})
