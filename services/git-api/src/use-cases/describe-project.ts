import type { ProjectWithOwner } from '@switchyard/db'
import type { Caller } from '@switchyard/domain/access'
import type { Call } from '@switchyard/service-kit/http'
import type { Dependencies } from '../dependencies.js'
import { presentProject } from '../presenters/project.js'

/** A project as its answer shows it to a caller; asks git whether anything was pushed yet. */
export async function describeProject(
  { git, logger }: Dependencies,
  { project, memberLevel }: { project: ProjectWithOwner; memberLevel: number | null },
  caller: Caller | null,
  { baseUrl, signal }: Call,
) {
  const empty = await git
    .open(project, signal)
    .hasNoBranch()
    .catch((error: unknown) => {
      // One broken repository must not take the whole list away.
      logger.error({ err: error, project_id: project.id }, 'could not read the repository')
      return true
    })
  const level = caller?.user.id === project.ownerId ? 50 : memberLevel
  return presentProject(project, { level, empty, baseUrl })
}
