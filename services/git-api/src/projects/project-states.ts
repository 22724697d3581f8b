import type { Database, Rows } from '@switchyard/db'
import {
  type Caller,
  decideProjectRight,
  type ProjectAccess,
  type ProjectRight,
} from '@switchyard/domain/access'
import { findNewestPipelines, type PipelineWithAuthor } from '../ci/pipelines/store.js'
import { type DeploymentView, listRunningDeployments } from '../delivery/deployments/store.js'
import { listProjects } from './list-store.js'
import type { ProjectWithOwner } from './store.js'

/** A project with its newest pipeline and its running deployments. */
interface ProjectState {
  project: ProjectWithOwner
  /**
   * The newest pipeline of the default branch; null without one, and for a caller who may not read pipelines.
   */
  pipeline: PipelineWithAuthor | null
  /** The running deployments, newest first; empty for a caller who may not read deployments. */
  deployments: DeploymentView[]
}

const deploymentsMax = 3
const lastActiveFirst = { column: 'lastActivityAt', direction: 'desc' } as const

/** Lists the projects that the caller may see and that are not archived, the most recently active first. */
export async function listProjectStates(
  database: Database,
  caller: Caller,
  rows: Rows,
): Promise<{ states: ProjectState[]; total: number }> {
  const filter = { viewer: caller.user, only: caller.token.projectId ?? undefined, archived: false }
  const shown = { ...filter, membership: false, owned: false }
  const { projects, total } = await listProjects(database, shown, lastActiveFirst, rows)
  const withRight = (right: ProjectRight) =>
    projects.flatMap(({ project, memberLevel }) => {
      const access = project as ProjectAccess & ProjectWithOwner
      return decideProjectRight(right, access, caller, memberLevel) === 'allowed' ? [project] : []
    })
  const branches = withRight('read_code').map(({ id, defaultBranch }) => ({
    projectId: id,
    ref: defaultBranch,
  }))
  const deployedIds = withRight('read_deployments').map(({ id }) => id)
  const [pipelines, deployments] = await Promise.all([
    findNewestPipelines(database, branches),
    listRunningDeployments(database, deployedIds, deploymentsMax),
  ])
  const states = projects.map(({ project }) => ({
    project,
    pipeline: pipelines.get(project.id) ?? null,
    deployments: deployments.filter(({ projectId }) => projectId === project.id),
  }))
  return { states, total }
}
