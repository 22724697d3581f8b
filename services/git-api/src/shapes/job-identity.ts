import type { JobIdentity } from '@switchyard/domain/access'
import { link } from '@switchyard/service-kit/http'
import { z } from 'zod'

export const jobIdentityShape = z
  .object({
    issuer: z.string(),
    subject: z.string(),
    repository: z.string().nullable(),
    ref: z.string().nullable(),
    run: z.string().nullable().meta({ description: 'The run of the workflow, the pipeline or the build' }),
    url: link().nullable().meta({ description: 'The page of the run' }),
  })
  .meta({
    id: 'JobIdentity',
    description: 'The CI job that used its identity token, as its issuer describes it',
  })

/**
 * @param stored the value of a JSON column: null, or a {@link JobIdentity} that may lack fields of later
 *   versions
 */
export function presentJobIdentity(stored: unknown): z.output<typeof jobIdentityShape> | null {
  if (stored === null) return null
  const { issuer, subject, repository, ref, run, url } = stored as JobIdentity
  return { issuer, subject, repository, ref, run, url: url ?? null }
}
