import { type Route, route } from '@switchyard/service-kit/http'
import type { Dependencies } from '../../dependencies.js'
import { createBranchEndpoint } from './create-branch.js'
import { deleteBranchEndpoint } from './delete-branch.js'
import { deleteMergedBranchesEndpoint } from './delete-merged-branches.js'
import { getBranchEndpoint } from './get-branch.js'
import { listBranchesEndpoint } from './list-branches.js'

export function branchRoutes(deps: Dependencies): Route[] {
  const { readCode, pushCode } = deps.guards
  const branches = '/projects/:id/repository/branches'
  return [
    route('GET', branches, readCode, listBranchesEndpoint(deps)),
    route('POST', branches, pushCode, createBranchEndpoint(deps)),
    route('GET', `${branches}/:branch`, readCode, getBranchEndpoint(deps)),
    route('DELETE', `${branches}/:branch`, pushCode, deleteBranchEndpoint(deps)),
    route('DELETE', '/projects/:id/repository/merged_branches', pushCode, deleteMergedBranchesEndpoint(deps)),
  ]
}
