import {
  booleanFlag,
  databaseUrl,
  httpServiceFields,
  integer,
  redisUrl,
} from '@switchyard/service-kit/config'
import { z } from 'zod'
import { jobSources } from './sources/source-config.js'

export const configSchema = z.object({
  ...httpServiceFields,
  DATABASE_URL: databaseUrl(),
  /** Connections to PostgreSQL. Unset: 2. */
  DATABASE_POOL_SIZE_MAX: integer(1, 1000).default(2),
  /** Switchyard's own: it keeps the history, and is the source when no other is named. */
  REDIS_URL: redisUrl(),
  /** Job systems to report on, as JSON. Unset: the background jobs of this Switchyard. */
  JOBQUEUE_SOURCES: jobSources().optional(),
  /** How long answers may show the same figures. Processes report every 5 s anyway. Unset: 1,000 ms. */
  JOBQUEUE_CACHE_MS: integer(0, 10_000).default(1000),
  /** Whether the last day is kept. Unset: yes. */
  JOBQUEUE_HISTORY: booleanFlag().default(true),
})

export type Config = z.output<typeof configSchema>
