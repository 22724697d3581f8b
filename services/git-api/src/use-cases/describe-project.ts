import type { ProjectWithOwner } from '@switchyard/db'
import { accessLevels, type Caller } from '@switchyard/domain/access'
import type { Call } from '@switchyard/service-kit/http'
import type { Dependencies } from '../dependencies.js'
import { presentProject } from '../presenters/project.js'

/** A project, and the access level of the caller's membership row. */
export interface FoundProject {
  project: ProjectWithOwner
  memberLevel: number | null
}

/** How many repositories are looked into at once for one request. */
const atOnceMax = 8

/** Several projects as their answer shows them to a caller, in the same order. */
export async function describeProjects(
  deps: Dependencies,
  found: readonly FoundProject[],
  caller: Caller,
  call: Call,
) {
  const described = []
  for (let first = 0; first < found.length; first += atOnceMax) {
    const batch = found.slice(first, first + atOnceMax)
    described.push(...(await Promise.all(batch.map((one) => describeProject(deps, one, caller, call)))))
  }
  return described
}

/** A project as its answer shows it to a caller; asks git whether anything was pushed yet. */
export async function describeProject(
  { git, logger }: Dependencies,
  { project, memberLevel }: FoundProject,
  caller: Caller | null,
  { baseUrl, signal }: Call,
) {
  const empty = await git
    .open(project, { signal })
    .hasNoBranch()
    .catch((error: unknown) => {
      // One broken repository must not take the whole list away.
      logger.error({ err: error, project_id: project.id }, 'could not read the repository')
      return true
    })
  const level = caller?.user.id === project.ownerId ? accessLevels.owner : memberLevel
  return presentProject(project, { level, empty, baseUrl })
}
