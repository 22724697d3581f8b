import type { CommentWithAuthor, Project } from '@switchyard/db'
import type { Commit } from '@switchyard/domain/commit'
import { type HookUser, hookCommit, hookDelivery, hookProject, hookRepository, hookUser } from './parts.js'

/** The body of a `Note Hook` on a commit. */
export const noteHook = (
  comment: CommentWithAuthor,
  { project, commit, user, baseUrl }: { project: Project; commit: Commit; user: HookUser; baseUrl: string },
) => {
  const shownCommit = hookCommit(commit, project, baseUrl)
  return hookDelivery('note', {
    object_kind: 'note',
    event_type: 'note',
    user: hookUser(user),
    project_id: project.id,
    project: hookProject(project, baseUrl),
    repository: hookRepository(project, baseUrl),
    object_attributes: {
      id: Number(comment.id),
      note: comment.note,
      description: comment.note,
      noteable_type: 'Commit',
      noteable_id: null,
      author_id: comment.authorId,
      created_at: comment.createdAt,
      updated_at: comment.createdAt,
      project_id: project.id,
      commit_id: comment.sha,
      attachment: null,
      line_code: null,
      path: comment.path,
      line: comment.line,
      line_type: comment.lineType,
      system: false,
      action: 'create',
      url: `${shownCommit.url}#note_${comment.id}`,
    },
    commit: shownCommit,
  })
}
