import { queryOptions } from '@tanstack/react-query'
import { get, getPage, segment } from '../../api/client'
import { useMay, useSession } from '../../api/session'
import type { Branch, CommitDetail, DiffEntry, Tag } from '../../generated/types.gen'
import { useProject } from './project-frame'

/** Roles of members, with their numbers in the API. */
export const roles = { guest: 10, reporter: 20, developer: 30, maintainer: 40, owner: 50 } as const

export const roleNames: Record<number, string> = {
  0: 'No one',
  10: 'Guest',
  20: 'Reporter',
  30: 'Developer',
  40: 'Maintainer',
  50: 'Owner',
}

/** Returns whether the session has a role in the project. Administrators have all roles. */
export function useHasRole(role: keyof typeof roles): boolean {
  const { permissions } = useProject()
  const { user } = useSession()
  return user?.is_admin === true || (permissions.project_access?.access_level ?? 0) >= roles[role]
}

/**
 * Returns whether the session may make changes with a role: this also needs a token that may write, and a
 * project that is not archived.
 */
export function useMayChange(role: keyof typeof roles): boolean {
  const { archived } = useProject()
  const hasRole = useHasRole(role)
  return useMay('projects.change') && hasRole && !archived
}

const namesMax = 20

/** Branches and tags whose names contain a text, as choices of a field. */
export const refNamesQuery = (project: string, search: string, kinds: 'branches' | 'branches and tags') =>
  queryOptions({
    queryKey: [project, 'ref-names', kinds, search],
    queryFn: async ({ signal }) => {
      const query = { search, per_page: namesMax }
      const [branches, tags] = await Promise.all([
        getPage<Branch>(`${project}/repository/branches`, query, signal),
        kinds === 'branches' ? undefined : getPage<Tag>(`${project}/repository/tags`, query, signal),
      ])
      return [
        ...branches.rows.map(({ name }) => ({ name, kind: 'branch' })),
        ...(tags?.rows ?? []).map(({ name }) => ({ name, kind: 'tag' })),
      ]
    },
    staleTime: 10_000,
    placeholderData: (previous) => previous,
  })

export const commitQuery = (project: string, sha: string) =>
  queryOptions({
    queryKey: [project, 'commit', sha],
    queryFn: ({ signal }) => get<CommitDetail>(`${project}/repository/commits/${segment(sha)}`, {}, signal),
  })

/** The change of a commit in one file. */
export type FileChange = DiffEntry

/** The answer to a dry run. */
export interface DryRun {
  dry_run: 'success'
  diffs: FileChange[]
}
