import { endpoint, filledText, flag, ok, parameterProblem, rowId } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { ProjectCall } from '../../guards.js'
import { comparisonShape, presentComparison } from '../../presenters/comparison.js'
import { compareRevisions } from '../../use-cases/compare-revisions.js'
import { diffParameters } from '../../wire/diff-parameters.js'
import { optional } from '../../wire/parameters.js'

const input = z.object({
  from: filledText(),
  to: filledText(),
  straight: flag()
    .default(false)
    .meta({ description: 'Compare with `from` itself instead of the merge base' }),
  from_project_id: optional(rowId()).meta({
    description: 'The project itself: there are no forks to compare with',
  }),
  ...diffParameters,
})

/** `GET /projects/:id/repository/compare` */
export const compare = endpoint({
  summary: 'The commits and changes of one revision that another one does not have',
  replies: { 200: comparisonShape },
  input,
  async handle({ from, to, straight, unidiff, path, stat, from_project_id }, access: ProjectCall, call) {
    if (from_project_id !== undefined && from_project_id !== access.project.id)
      throw parameterProblem('from_project_id', 'must be the project itself: there are no forks')
    const comparison = await compareRevisions(access, {
      ...{ from, to, path },
      isStraight: straight,
      withCounts: stat,
    })
    const view = { project: access.project, baseUrl: call.baseUrl, from, to }
    return ok(presentComparison(comparison, { ...view, isStraight: straight, isUnified: unidiff }))
  },
})
