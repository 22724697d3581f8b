import type { Project } from '@switchyard/db'
import {
  endpoint,
  filledText,
  flag,
  link,
  list,
  ok,
  parameterProblem,
  type Route,
  route,
  rowId,
  text,
} from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { ProjectCall, ProjectGuards } from '../../guards.js'
import { commitShape, diffEntryShape, presentCommit, presentDiffEntry } from '../../shapes/commit.js'
import { diffParameters, optional } from '../../shapes/parameters.js'
import type { Comparison } from './compare.js'
import * as compare from './compare.js'

export const compareRoutes = ({ guards }: { guards: ProjectGuards }): Route[] => [
  route('GET', '/projects/:id/repository/compare', guards.readCode, getComparison),
  route('GET', '/projects/:id/repository/merge_base', guards.readCode, getMergeBase),
]

const comparisonShape = z
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

/** Returns a comparison in GitLab's shape. */
function presentComparison(
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

const compareInput = z.object({
  from: filledText(),
  to: filledText(),
  straight: flag()
    .default(false)
    .meta({ description: 'Compare with `from` itself instead of the merge base' }),
  from_project_id: optional(rowId()).meta({
    description: 'Only the id of the project itself: there are no forks to compare with',
  }),
  ...diffParameters,
})

const getComparison = endpoint({
  summary: 'Compare two revisions: list the commits and changes of one that the other does not have',
  replies: { 200: comparisonShape },
  input: compareInput,
  async handle({ from, to, straight, unidiff, path, stat, from_project_id }, access: ProjectCall, call) {
    if (from_project_id !== undefined && from_project_id !== access.project.id)
      throw parameterProblem('from_project_id', 'must be the project itself: there are no forks')
    const comparison = await compare.compareRevisions(access, {
      from,
      to,
      path,
      isStraight: straight,
      withCounts: stat,
    })
    const view = { project: access.project, baseUrl: call.baseUrl, from, to }
    return ok(presentComparison(comparison, { ...view, isStraight: straight, isUnified: unidiff }))
  },
})

const refsMax = 20

const getMergeBaseInput = z.object({
  refs: z.preprocess(
    (value) => (typeof value === 'string' ? value.split(',') : value),
    list(text(), refsMax).meta({ description: 'Branches, tags or hashes, at least two' }),
  ),
})

const getMergeBase = endpoint({
  summary: 'Get the newest common ancestor of several revisions',
  replies: { 200: commitShape },
  input: getMergeBaseInput,
  async handle({ refs }, access: ProjectCall, call) {
    return ok(presentCommit(await compare.resolveMergeBase(access, refs), access.project, call.baseUrl))
  },
})
