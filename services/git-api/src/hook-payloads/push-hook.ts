import type { Project } from '@switchyard/db'
import type { RefChange } from '@switchyard/domain/access'
import type { Commit } from '@switchyard/domain/commit'
import type { DiffEntry } from '@switchyard/git-storage'
import { type HookUser, hookCommit, hookDelivery, hookProject, hookRepository } from './parts.js'
import { presentPushOptions } from './push-options.js'

export interface PushedCommits {
  /** Oldest first. Of many commits the newest. */
  commits: { commit: Commit; changes: readonly DiffEntry[] }[]
  total: number
  checkedOut: CheckedOut
}

/** What a reference leads to after its change. */
export interface CheckedOut {
  /** Null for a deleted reference. */
  commitId: string | null
  /** Text of an annotated tag; else null. */
  message: string | null
}

/** The body of a `Push Hook`, or of a `Tag Push Hook`. */
export const pushHook = (
  { ref, before, after }: RefChange,
  { commits, total, checkedOut }: PushedCommits,
  {
    project,
    user,
    baseUrl,
    pushOptions = [],
  }: { project: Project; user: HookUser; baseUrl: string; pushOptions?: readonly string[] },
) => {
  const event = ref.startsWith('refs/tags/') ? 'tag_push' : 'push'
  return hookDelivery(event, {
    object_kind: event,
    event_name: event,
    before,
    after,
    ref,
    checkout_sha: checkedOut.commitId,
    message: checkedOut.message,
    user_id: user.id,
    user_name: user.name,
    user_username: user.username,
    user_email: user.email,
    user_avatar: null,
    project_id: project.id,
    project: hookProject(project, baseUrl),
    commits: commits.map(({ commit, changes }) => ({
      ...hookCommit(commit, project, baseUrl),
      ...changedPaths(changes),
    })),
    total_commits_count: total,
    push_options: presentPushOptions(pushOptions),
    repository: hookRepository(project, baseUrl),
  })
}

function changedPaths(changes: readonly DiffEntry[]) {
  const moved = changes.filter(({ renamedFile }) => renamedFile)
  const paths = (entries: readonly DiffEntry[]) => entries.map(({ newPath }) => newPath)
  return {
    added: [...paths(changes.filter(({ newFile }) => newFile)), ...paths(moved)],
    modified: paths(
      changes.filter(({ newFile, deletedFile, renamedFile }) => !newFile && !deletedFile && !renamedFile),
    ),
    removed: [
      ...changes.filter(({ deletedFile }) => deletedFile).map(({ oldPath }) => oldPath),
      ...moved.map(({ oldPath }) => oldPath),
    ],
  }
}
