import { endpoint, ok } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Snapshots } from '../use-cases/read-snapshots.js'

/** The names that `source` of the other endpoints takes, in the order of the configuration. */
export const listSources = ({ names }: Snapshots) =>
  endpoint({
    summary: 'The sources of figures',
    replies: { 200: z.array(z.object({ name: z.string() })) },
    input: z.object({}),
    handle: async () => ok(names.map((name) => ({ name }))),
  })
