import type { Readable, Writable } from 'node:stream'
import { listProtectedBranches } from '@switchyard/db'
import { compilePushRules } from '@switchyard/domain/access'
import { type GitSession, servePush } from '@switchyard/git-storage'
import type { Call } from '@switchyard/service-kit/http'
import type { Dependencies } from '../dependencies.js'
import type { ProjectCall } from '../guards.js'
import { adoptDefaultBranch } from './adopt-default-branch.js'
import { referencesChanged } from './references-changed.js'

/** A push that is about to begin. */
export interface Push {
  session: GitSession
  /** What the client sends. */
  input: Readable
  /** Takes git's answer, and is left for the caller to end. */
  output: Writable
}

/**
 * Takes a push over HTTP: every reference that the pusher may change is changed, and each other one is refused with its
 * reason. Then does what follows from the changes.
 *
 * @throws what `servePush` throws
 */
export async function takePush(
  dependencies: Pick<Dependencies, 'database' | 'git' | 'jobs' | 'logger'>,
  { project, level, caller }: ProjectCall,
  { session, input, output }: Push,
  { logger, baseUrl }: Pick<Call, 'logger' | 'baseUrl'>,
): Promise<void> {
  const { database, git } = dependencies
  const protections = await listProtectedBranches(database, project.id)
  const judge = compilePushRules({ level, defaultBranch: project.defaultBranch, protections })
  const { changes, options } = await servePush(session, input, output, judge)
  if (changes.length === 0 || !caller) return
  const about = { project, user: caller.user, baseUrl, pushOptions: options }
  await referencesChanged(dependencies, about, changes)
  // The references have changed; a database that is away now must not make the push look refused.
  await adoptDefaultBranch({ database, git }, project).catch((error: unknown) => {
    logger.warn({ err: error, project_id: project.id }, 'could not look after the default branch')
  })
}
