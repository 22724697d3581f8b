import type { JobIdentity } from '../generated/types.gen'
import { isWebAddress } from '../lib/format'

/** The CI job that acted, as its identity token described it; nothing without a job. */
export function ByJob({ job }: { job: JobIdentity | null | undefined }) {
  if (!job) return null
  const link = job.url !== null && isWebAddress(job.url) ? job.url : undefined
  const name = job.run === null ? 'a job' : `job ${job.run}`
  return (
    <span className="block max-w-md text-[13px] text-quiet wrap-anywhere">
      by{' '}
      {link ? (
        <a href={link} rel="noreferrer" className="text-accent hover:underline">
          <bdi>{name}</bdi>
        </a>
      ) : (
        <bdi>{name}</bdi>
      )}{' '}
      of <bdi>{sourceOf(job, link)}</bdi>
      {job.ref !== null && (
        <>
          {' '}
          at <bdi>{job.ref}</bdi>
        </>
      )}
    </span>
  )
}

/**
 * Returns the origin of the job: the host of its page, or of its issuer, and the repository, or the subject.
 */
function sourceOf({ issuer, repository, subject }: JobIdentity, link: string | undefined): string {
  const address = link ?? issuer
  const host = URL.canParse(address) ? new URL(address).host : issuer
  return `${host}${repository === null ? `, ${subject}` : `/${repository}`}`
}
