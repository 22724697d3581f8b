import { findCaller, findSessionCaller } from '@switchyard/db'
import { type Authenticate, createAuthenticator, type FindCaller } from '@switchyard/service-kit/http'
import { type JobConfig, type JobParts, openFindJob } from './job-identity/find-job.js'

/**
 * Returns functions that find the caller of a service that changes neither users nor tokens: the holder of a
 * token or of a session, or a CI job.
 */
export function openCallers(
  config: JobConfig,
  parts: JobParts,
): { authenticate: Authenticate; findSession: FindCaller } {
  const { database } = parts
  const { authenticate } = createAuthenticator(
    (hash) => findCaller(database, hash),
    openFindJob(config, parts),
  )
  return { authenticate, findSession: (hash) => findSessionCaller(database, hash) }
}
