import { type Route, route } from '@switchyard/service-kit/http'
import type { Dependencies } from '../../dependencies.js'
import { commitBytesMax } from '../../wire/file-content.js'
import { cherryPick, revertCommit } from './apply-commit.js'
import { createCommit } from './create-commit.js'
import { getSequence } from './get-sequence.js'
import { getSignature } from './get-signature.js'
import { listCommitReferences } from './list-commit-references.js'
import { listMergeRequests } from './list-merge-requests.js'
import { getCommit, getDiff, listCommits } from './read-commits.js'

export function commitRoutes(deps: Dependencies): Route[] {
  const { readCode, pushCode } = deps.guards
  const commits = '/projects/:id/repository/commits'
  return [
    route('GET', commits, readCode, listCommits),
    route('POST', commits, pushCode, createCommit(deps), {
      bodyBytesMax: commitBytesMax,
      parseLargeBody: deps.commitBodies.parse,
      longLived: true,
    }),
    route('GET', `${commits}/:sha`, readCode, getCommit(deps)),
    route('POST', `${commits}/:sha/cherry_pick`, pushCode, cherryPick(deps)),
    route('POST', `${commits}/:sha/revert`, pushCode, revertCommit(deps)),
    route('GET', `${commits}/:sha/diff`, readCode, getDiff),
    route('GET', `${commits}/:sha/refs`, readCode, listCommitReferences),
    route('GET', `${commits}/:sha/sequence`, readCode, getSequence),
    route('GET', `${commits}/:sha/signature`, readCode, getSignature),
    route('GET', `${commits}/:sha/merge_requests`, readCode, listMergeRequests),
  ]
}
