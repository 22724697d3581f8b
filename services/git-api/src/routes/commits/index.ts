import { type Route, route } from '@switchyard/service-kit/http'
import type { Dependencies } from '../../dependencies.js'
import { cherryPick } from './cherry-pick.js'
import { createCommitEndpoint } from './create-commit.js'
import { commitBytesMax } from './file-content.js'
import { getCommitEndpoint } from './get-commit.js'
import { getDiff } from './get-diff.js'
import { getSequence } from './get-sequence.js'
import { listCommitReferencesEndpoint } from './list-commit-references.js'
import { listCommits } from './list-commits.js'

export function commitRoutes(deps: Dependencies): Route[] {
  const { readCode, pushCode } = deps.guards
  const commits = '/projects/:id/repository/commits'
  return [
    route('GET', commits, readCode, listCommits(deps)),
    route('POST', commits, pushCode, createCommitEndpoint(deps), {
      bodyBytesMax: commitBytesMax,
      parseLargeBody: deps.commitBodies.parse,
      longLived: true,
    }),
    route('GET', `${commits}/:sha`, readCode, getCommitEndpoint(deps)),
    route('POST', `${commits}/:sha/cherry_pick`, pushCode, cherryPick(deps)),
    route('GET', `${commits}/:sha/diff`, readCode, getDiff(deps)),
    route('GET', `${commits}/:sha/refs`, readCode, listCommitReferencesEndpoint(deps)),
    route('GET', `${commits}/:sha/sequence`, readCode, getSequence(deps)),
  ]
}
