import type { Project } from '@switchyard/db'
import { link } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { BranchView } from '../repository-views.js'
import { commitShape, presentCommit } from './commit.js'

export const branchShape = z
  .object({
    name: z.string(),
    commit: commitShape,
    merged: z
      .boolean()
      .meta({ description: 'Whether the default branch contains the branch and has more commits' }),
    protected: z.boolean(),
    developers_can_push: z.boolean().meta({ description: 'Whether a protection lets developers push' }),
    developers_can_merge: z
      .boolean()
      .meta({ description: 'Whether a protection has `merge_access_level` 30' }),
    can_push: z.boolean().meta({ description: 'Whether the caller may push' }),
    default: z.boolean(),
    web_url: link(),
  })
  .meta({ id: 'Branch', description: 'A branch and its newest commit' })

/** A branch in GitLab's shape. */
export const presentBranch = (
  branch: BranchView,
  project: Project,
  baseUrl: string,
): z.output<typeof branchShape> => ({
  name: branch.name,
  commit: presentCommit(branch.commit, project, baseUrl),
  merged: branch.isMerged,
  protected: branch.isProtected,
  developers_can_push: branch.developersCanPush,
  developers_can_merge: branch.developersCanMerge,
  can_push: branch.callerCanPush,
  default: branch.isDefault,
  web_url: `${baseUrl}/${project.pathWithNamespace}/-/tree/${encodeURIComponent(branch.name)}`,
})
