import { findCaller, findSessionCaller } from '@switchyard/db'
import { type Authenticate, createAuthenticate, type FindCaller } from '@switchyard/service-kit/http'
import { type JobConfig, type JobParts, openFindJob } from './job-identity/find-job.js'

/** Finds who calls a service that changes neither users nor tokens: the holder of a token or of a session, or a CI job. */
export function openCallers(
  config: JobConfig,
  parts: JobParts,
): { authenticate: Authenticate; findSession: FindCaller } {
  const { database } = parts
  return {
    authenticate: createAuthenticate((hash) => findCaller(database, hash), openFindJob(config, parts)),
    findSession: (hash) => findSessionCaller(database, hash),
  }
}
