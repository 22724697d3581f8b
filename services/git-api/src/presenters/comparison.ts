import type { Project } from '@switchyard/db'
import { link } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Comparison } from '../repository-views.js'
import { commitShape, presentCommit } from './commit.js'
import { diffEntryShape, presentDiffEntry } from './diff.js'

export const comparisonShape = z
  .object({
    commit: commitShape.nullable().meta({ description: 'The newest of the commits' }),
    commits: z.array(commitShape).meta({ description: 'The oldest first' }),
    commits_total: z.int(),
    commits_truncated: z.boolean().meta({ description: 'Whether only the newest commits are listed' }),
    diffs: z.array(diffEntryShape),
    compare_timeout: z
      .boolean()
      .meta({ description: 'Whether a part of the diffs is left out because of a limit' }),
    compare_same_ref: z.boolean(),
    web_url: link(),
  })
  .meta({
    id: 'Comparison',
    description: 'The commits and changes of one revision that another one does not have',
  })

interface ComparisonView {
  project: Project
  baseUrl: string
  from: string
  to: string
  isStraight: boolean
  /** Whether the texts of diffs start with the lines `---` and `+++`. */
  isUnified: boolean
}

/** A comparison in GitLab's shape. */
export function presentComparison(
  { commits, commitsTotal, diffs, isIncomplete, isSame }: Comparison,
  { project, baseUrl, from, to, isStraight, isUnified }: ComparisonView,
): z.output<typeof comparisonShape> {
  const presented = commits.map((commit) => presentCommit(commit, project, baseUrl))
  const range = `${encodeURIComponent(from)}${isStraight ? '..' : '...'}${encodeURIComponent(to)}`
  return {
    commit: presented.at(-1) ?? null,
    commits: presented,
    commits_total: commitsTotal,
    commits_truncated: commits.length < commitsTotal,
    diffs: diffs.map((entry) => presentDiffEntry(entry, isUnified)),
    compare_timeout: isIncomplete,
    compare_same_ref: isSame,
    web_url: `${baseUrl}/${project.pathWithNamespace}/-/compare/${range}`,
  }
}
