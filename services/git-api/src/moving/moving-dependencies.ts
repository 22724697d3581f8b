import type { Database } from '@switchyard/db'
import type { Git } from '@switchyard/git-storage'
import type { Logger } from '@switchyard/service-kit/observability'
import type { Storages } from '../storages.js'

export interface MovingDependencies {
  database: Database
  git: Git
  storages: Storages
  storageRoot: string
  logger: Logger
}
