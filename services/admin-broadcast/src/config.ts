import { databaseUrl, httpServiceFields, integer } from '@switchyard/service-kit/config'
import { z } from 'zod'

export const configSchema = z.object({
  ...httpServiceFields,
  DATABASE_URL: databaseUrl(),
  /** Connections to PostgreSQL. Unset: 5. */
  DATABASE_POOL_SIZE_MAX: integer(1, 1000).default(5),
})

export type Config = z.output<typeof configSchema>
