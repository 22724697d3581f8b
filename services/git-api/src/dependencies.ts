import type { Database } from '@switchyard/db'
import type { Git } from '@switchyard/git-storage'
import type { AuthenticateFrom, Authenticator } from '@switchyard/service-kit/http'
import type { Logger } from '@switchyard/service-kit/observability'
import type { Slots } from '@switchyard/service-kit/slots'
import type { SecretBox, TargetPolicy } from '@switchyard/webhooks'
import type { CommitBodies } from './commits/commit-bodies.js'
import type { FreezeCalendar } from './freeze-periods/freeze-calendar.js'
import type { ProjectGuards } from './guards.js'
import type { Jobs } from './jobs.js'
import type { StatusLookup } from './statuses/status-lookup.js'
import type { StatusRecorder } from './statuses/status-recorder.js'
import type { Storages } from './storages/storages.js'
import type { StorageSpace } from './system/storage-space.js'
import type { SystemState } from './system/system.js'

/** One page of a list, in rows. */
export interface Rows {
  skip: number
  take: number
}

/** The parts that sign-in needs. */
interface Sessions {
  /** Finds the holder of a token, and counts the unknown tokens of each address. */
  authenticate: AuthenticateFrom
  /** A session ends when it is not used for this time. */
  idleMs: number
  /** A session ends after this time at the latest. */
  lifetimeMs: number
}

/** Everything that routes and use cases work with; made once, in service.ts. */
export interface Dependencies extends Pick<Authenticator, 'forgetUsers'> {
  database: Database
  guards: ProjectGuards
  sessions: Sessions
  jobs: Jobs
  commitBodies: CommitBodies
  statuses: StatusRecorder
  statusLookup: StatusLookup
  freezeCalendar: FreezeCalendar
  /** The addresses that webhooks may have. */
  webhookTargets: TargetPolicy
  /** Encrypts the secrets of webhooks. */
  secretBox: SecretBox
  /** The commit that this process was built from; `unknown` where nobody said. */
  revision: string
  git: Git
  storages: Storages
  /** Uploads and downloads of objects of Git LFS. */
  lfsTransfers: Slots
  /** A client that neither sends nor reads for this time is disconnected. */
  transferIdleMs: number
  storageSpace: StorageSpace
  /** Size of the largest object of Git LFS. */
  lfsObjectBytesMax: number
  readSystemState: () => Promise<SystemState>
  /** The folder of all bare repositories. */
  storageRoot: string
  logger: Logger
}
