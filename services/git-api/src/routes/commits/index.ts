import { type Route, route } from '@switchyard/service-kit/http'
import type { Dependencies } from '../../dependencies.js'
import { commitBytesMax } from '../../wire/file-content.js'
import { cherryPick } from './cherry-pick.js'
import { createCommit } from './create-commit.js'
import { getSequence } from './get-sequence.js'
import { listCommitReferences } from './list-commit-references.js'
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
    route('GET', `${commits}/:sha/diff`, readCode, getDiff),
    route('GET', `${commits}/:sha/refs`, readCode, listCommitReferences),
    route('GET', `${commits}/:sha/sequence`, readCode, getSequence),
  ]
}
