import type { Database } from '@switchyard/db'
import { isRefusal } from '@switchyard/domain'
import { findCommitId, findMergeBase, listAuthorTimes } from '@switchyard/git-storage/commits'
import type { Git } from '@switchyard/git-storage/git'
import { isTooHard } from '@switchyard/git-storage/processes'
import type { Repository } from '@switchyard/git-storage/repository'
import { type Repeated, repeat } from '@switchyard/service-kit/lifecycle'
import type { Logger } from '@switchyard/service-kit/observability'
import type { Storages } from '../../storages/storages.js'
import { leadTimesOf } from './lead-times.js'
import type { DeploymentChange, WaitingDeployment } from './store.js'
import * as store from './store.js'

interface Dependencies {
  database: Database
  git: Git
  storages: Storages
  logger: Logger
}

const pauseMs = 5_000
const atOnceMax = 50
/** Time until a failed measurement of a deployment is tried again. */
const againInMs = 10 * 60_000
/** Most commits of one deployment that are counted. */
const commitsMax = 10_000
/** Most earlier deployments to the same environment with which a deployment is compared. */
const earlierMax = 100

/**
 * Starts measuring successful deployments: the lead times of their commits, and whether they roll back
 * another deployment. This work is here and not in the worker, because git-api shares the capacity of git
 * among all its users.
 */
export function startMeasuringChanges(deps: Dependencies): Repeated {
  let hasEnqueuedMissing = false
  return repeat(
    async (signal) => {
      if (!hasEnqueuedMissing) await store.enqueueMissingMeasurements(deps.database)
      hasEnqueuedMissing = true
      await measureWaiting(deps, signal)
    },
    pauseMs,
    (err) => deps.logger.warn({ err }, 'could not look for deployments to measure; trying again in 5 s'),
  )
}

async function measureWaiting({ database, git, storages, logger }: Dependencies, signal: AbortSignal) {
  const claim = { storage: storages.own, rowsMax: atOnceMax, againInMs }
  for (const deployment of await store.claimWaiting(database, claim)) {
    if (signal.aborted) return
    try {
      const earlier = await store.listDeploymentsBefore(database, deployment, earlierMax)
      const change = await measureChange(git.open(deployment, { signal }), deployment, earlier)
      await store.recordChange(database, deployment, change)
    } catch (err) {
      if (signal.aborted) return
      const about = { project_id: deployment.projectId, deployment_id: deployment.id }
      logger.warn(
        { err, ...about },
        'could not measure the changes of a deployment; trying again in 10 minutes',
      )
    }
  }
}

const unknown: DeploymentChange = { commits: 0, leadSeconds: [], rollsBackId: null }

type Deployed = Pick<WaitingDeployment, 'sha' | 'finishedAt'>

/**
 * Measures a deployment. For the first one to an environment, only its newest commit counts, because the
 * others may have been there for years before deployments were recorded.
 *
 * @param earlier successful deployments to the same environment, newest first
 */
async function measureChange(
  repository: Repository,
  { sha, finishedAt }: Deployed,
  earlier: readonly { id: number; sha: string }[],
): Promise<DeploymentChange> {
  try {
    if ((await findCommitId(repository, sha)) === null) return unknown
    const take = earlier.length === 0 ? 1 : commitsMax
    const without = [...new Set(earlier.map((each) => each.sha))]
    const authorTimes = await listAuthorTimes(repository, { to: sha, without, take })
    const rollsBackId = await findRolledBack(repository, sha, earlier)
    return { commits: authorTimes.length, leadSeconds: leadTimesOf(authorTimes, finishedAt), rollsBackId }
  } catch (error) {
    // A retry would fail with the same error.
    if (isTooHard(error) || isRefusal(error, 'not-found')) return unknown
    throw error
  }
}

/**
 * Returns the previous deployment if this one rolls it back: its commit is older, or was deployed before and
 * is not newer. Null: it rolls none back.
 */
async function findRolledBack(
  repository: Repository,
  sha: string,
  earlier: readonly { id: number; sha: string }[],
): Promise<number | null> {
  const [running, ...others] = earlier
  if (!running || running.sha === sha) return null
  const base = await findMergeBase(repository, [sha, running.sha])
  const wasDeployed = others.some((each) => each.sha === sha)
  return base === sha || (wasDeployed && base !== running.sha) ? running.id : null
}
