import { timeText } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { SystemState } from '../system-state.js'

const bytes = () => z.number().int().nonnegative()

const tableShape = z.object({ name: z.string(), size_bytes: bytes(), rows_estimate: z.int() })

export const systemShape = z
  .object({
    version: z.string().meta({ description: 'Of Switchyard' }),
    node_version: z.string(),
    git_version: z.string().nullable(),
    started_at: timeText().meta({ description: 'When the answering process of git-api started' }),
    uptime_seconds: z.int(),
    checked_at: timeText(),
    database: z
      .object({
        version: z.string(),
        size_bytes: bytes(),
        connections: z.int(),
        connections_max: z.int(),
        users: z.int(),
        projects: z.int(),
        tables: z.array(tableShape).meta({ description: 'The ten largest, with partitions and indexes' }),
      })
      .nullable(),
    redis: z.object({ version: z.string(), used_memory_bytes: bytes() }).nullable(),
    storage: z
      .object({ total_bytes: bytes(), free_bytes: bytes() })
      .nullable()
      .meta({ description: 'The file system of the repositories' }),
  })
  .meta({
    id: 'System',
    description: 'What an installation runs on; a part is null when it does not answer in time',
  })

export function presentSystem({
  database,
  redis,
  storage,
  ...state
}: SystemState): z.output<typeof systemShape> {
  return {
    version: state.version,
    node_version: process.versions.node,
    git_version: state.gitVersion,
    started_at: state.startedAt.toISOString(),
    uptime_seconds: Math.floor((state.at.getTime() - state.startedAt.getTime()) / 1000),
    checked_at: state.at.toISOString(),
    database: database && {
      version: database.version,
      size_bytes: database.sizeBytes,
      connections: database.connections,
      connections_max: database.connectionsMax,
      users: database.users,
      projects: database.projects,
      tables: database.tables.map(({ name, sizeBytes, rowsEstimate }) => ({
        name,
        size_bytes: sizeBytes,
        rows_estimate: rowsEstimate,
      })),
    },
    redis: redis && { version: redis.version, used_memory_bytes: redis.usedMemoryBytes },
    storage: storage && { total_bytes: storage.totalBytes, free_bytes: storage.freeBytes },
  }
}
