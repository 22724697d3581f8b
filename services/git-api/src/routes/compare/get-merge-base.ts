import { endpoint, list, ok, text } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { ProjectCall } from '../../guards.js'
import { commitShape, presentCommit } from '../../presenters/commit.js'
import { findMergeBase } from '../../use-cases/find-merge-base.js'

const refsMax = 20

const input = z.object({
  refs: z.preprocess(
    (value) => (typeof value === 'string' ? value.split(',') : value),
    list(text(), refsMax).meta({ description: 'Branches, tags or hashes, at least two' }),
  ),
})

/** `GET /projects/:id/repository/merge_base` */
export const getMergeBase = endpoint({
  summary: 'The newest common ancestor of several revisions',
  replies: { 200: commitShape },
  input,
  async handle({ refs }, access: ProjectCall, call) {
    return ok(presentCommit(await findMergeBase(access, refs), access.project, call.baseUrl))
  },
})
