import type { Database, StatusRecorder } from '@switchyard/db'
import type { Git } from '@switchyard/git-storage'
import type { Authenticator } from '@switchyard/service-kit/http'
import type { Logger } from '@switchyard/service-kit/observability'
import type { SecretBox, TargetPolicy } from '@switchyard/webhooks'
import type { CommitBodies } from './commit-bodies/commit-bodies.js'
import type { FreezeCalendar } from './freeze-calendar.js'
import type { GitSessions } from './git-sessions.js'
import type { ProjectGuards } from './guards.js'
import type { Jobs } from './jobs.js'
import type { StatusLookup } from './status-lookup.js'
import type { SystemState } from './system-state.js'

/** One page of a list, in rows. */
export interface Rows {
  skip: number
  take: number
}

/** Everything that routes and use cases work with; made once, in service.ts. */
export interface Dependencies extends Pick<Authenticator, 'forgetUsers'> {
  database: Database
  guards: ProjectGuards
  jobs: Jobs
  commitBodies: CommitBodies
  statuses: StatusRecorder
  statusLookup: StatusLookup
  freezeCalendar: FreezeCalendar
  /** The addresses that webhooks may have. */
  webhookTargets: TargetPolicy
  /** Encrypts the secrets of webhooks. */
  secretBox: SecretBox
  git: Git
  gitSessions: GitSessions
  lfsTransfers: GitSessions
  /** Size of the largest object of Git LFS. */
  lfsObjectBytesMax: number
  readSystemState: () => Promise<SystemState>
  /** The folder of all bare repositories. */
  storageRoot: string
  logger: Logger
}
