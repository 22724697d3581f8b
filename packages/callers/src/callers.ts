import { findCaller, findSessionCaller } from '@switchyard/db'
import { type Authenticate, createAuthenticator, type FindCaller } from '@switchyard/service-kit/http'
import { type JobConfig, type JobDependencies, openFindJob } from './job-identity/find-job.js'

/**
 * Returns functions that find the caller of a service that changes neither users nor tokens: the holder of a
 * token or of a session, or a CI job.
 */
export function openCallers(
  config: JobConfig,
  deps: JobDependencies,
): { authenticate: Authenticate; findSession: FindCaller } {
  const { database } = deps
  const { authenticate } = createAuthenticator(
    (hash) => findCaller(database, hash),
    openFindJob(config, deps),
  )
  return { authenticate, findSession: (hash) => findSessionCaller(database, hash) }
}
