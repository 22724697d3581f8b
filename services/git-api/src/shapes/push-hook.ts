import type { Project } from '@switchyard/db'
import type { RefChange } from '@switchyard/domain/access'
import { type Commit, tagsFolder } from '@switchyard/domain/commit'
import type { DiffEntry } from '@switchyard/git-storage/diffs'
import { type HookUser, hookCommit, hookDelivery, hookProject, hookRepository } from './hook-parts.js'

/** Options that may be given several times: GitLab shows the count of each value. */
const countedOptions = new Set([
  'ci.input',
  'ci.variable',
  'merge_request.assign',
  'merge_request.label',
  'merge_request.unassign',
  'merge_request.unlabel',
])

/**
 * Returns the options of a push (`git push -o ci.skip`) in the form of GitLab's webhooks: `{ ci: { skip: true
 * } }`. `mr` is short for `merge_request`; when an option is given twice, the last value counts. Options
 * without the form `namespace.key` or `namespace.key=value` are left out.
 */
export function presentPushOptions(options: readonly string[]): Record<string, Record<string, unknown>> {
  const namespaces = new Map<string, Map<string, unknown>>()
  for (const option of options) {
    const parts = /^([^.=]+)\.([^=]+)=?(.*)$/s.exec(option)
    if (!parts) continue
    const [, given = '', key = '', value = ''] = parts
    const namespace = given === 'mr' ? 'merge_request' : given
    const known = namespaces.get(namespace) ?? new Map<string, unknown>()
    namespaces.set(namespace, known)
    if (!countedOptions.has(`${namespace}.${key}`)) {
      known.set(key, value === '' ? true : value)
      continue
    }
    const counts = (known.get(key) as Map<string, number> | undefined) ?? new Map<string, number>()
    known.set(key, counts.set(value, (counts.get(value) ?? 0) + 1))
  }
  return Object.fromEntries([...namespaces].map(([name, known]) => [name, plain(known)]))
}

/** Converts maps to objects. `Object.fromEntries` makes `__proto__` an ordinary key. */
const plain = (known: ReadonlyMap<string, unknown>): Record<string, unknown> =>
  Object.fromEntries([...known].map(([key, value]) => [key, value instanceof Map ? plain(value) : value]))

export interface PushedCommits {
  /** Oldest first; only the newest ones of many commits. */
  commits: { commit: Commit; changes: readonly DiffEntry[] }[]
  total: number
  checkedOut: CheckedOut
}

/** The target of a reference after its change. */
export interface CheckedOut {
  /** Null for a deleted reference. */
  commitId: string | null
  /** Text of an annotated tag; null for every other reference. */
  message: string | null
}

/** Returns the body of a `Push Hook`, or of a `Tag Push Hook`. */
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
  const event = ref.startsWith(tagsFolder) ? 'tag_push' : 'push'
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
