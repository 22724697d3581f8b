import type { Project } from '@switchyard/db'
import type { JobIdentity } from '@switchyard/domain/access'
import {
  type Commit,
  type CommitStats,
  isGeneratedFile,
  signatureTime,
  titleOf,
  trailersOf,
} from '@switchyard/domain/commit'
import type { DiffEntry } from '@switchyard/git-storage/diffs'
import { link, timeText } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { PipelineWithAuthor } from '../ci/pipelines/store.js'
import { jobIdentityShape, presentJobIdentity } from './job-identity.js'

/** The kind of a signature. */
export type SignatureKind = 'PGP' | 'SSH' | 'X509'

export const pipelineBasicShape = z
  .object({
    id: z.int(),
    iid: z.int(),
    project_id: z.int(),
    sha: z.string(),
    ref: z.string().nullable(),
    status: z.string(),
    source: z.string(),
    created_at: z.date(),
    updated_at: z.date(),
    web_url: link(),
  })
  .meta({ id: 'PipelineBasic', description: 'All statuses of a commit and ref combined' })

/**
 * Returns a pipeline as part of another answer. `iid` is the id, because pipelines have no number within the
 * project.
 */
export const presentPipelineBasic = (
  { id, projectId, sha, ref, status, createdAt, updatedAt }: PipelineWithAuthor,
  project: Project,
  baseUrl: string,
): z.output<typeof pipelineBasicShape> => ({
  id: Number(id),
  iid: Number(id),
  project_id: projectId,
  sha,
  ref,
  status,
  source: 'external',
  created_at: createdAt,
  updated_at: updatedAt,
  web_url: `${baseUrl}/${project.pathWithNamespace}/-/pipelines/${id}`,
})

const statsShape = z
  .object({ additions: z.int(), deletions: z.int(), total: z.int() })
  .nullable()
  .meta({ description: 'Only when requested; null when git cannot compare the commit with its parent' })
  .optional()

const commitFields = {
  id: z.string(),
  short_id: z.string(),
  title: z.string(),
  message: z.string(),
  author_name: z.string(),
  author_email: z.string(),
  authored_date: timeText(),
  committer_name: z.string(),
  committer_email: z.string(),
  committed_date: timeText(),
  created_at: timeText(),
  parent_ids: z.array(z.string()),
  trailers: z.record(z.string(), z.string()),
  web_url: link(),
}

export const commitShape = z
  .object({ ...commitFields, stats: statsShape })
  .meta({ id: 'Commit', description: 'A commit in a list' })

export const commitDetailShape = z
  .object({
    ...commitFields,
    stats: statsShape,
    status: z.string().nullable(),
    project_id: z.int(),
    last_pipeline: pipelineBasicShape.nullable(),
    job_identity: jobIdentityShape.nullable().meta({ description: 'The CI job that added the commit' }),
  })
  .meta({ id: 'CommitDetail', description: 'One commit, with the state that follows from its statuses' })

/** Returns a commit as part of a list. Dates keep the offset of their signature. */
export function presentCommit(
  commit: Commit,
  project: Project,
  baseUrl: string,
): z.output<typeof commitShape> {
  const { id, author, committer, message, parentIds } = commit
  const committedDate = signatureTime(committer)
  return {
    id,
    short_id: id.slice(0, 8),
    title: titleOf(message),
    message,
    author_name: author.name,
    author_email: author.email,
    authored_date: signatureTime(author),
    committer_name: committer.name,
    committer_email: committer.email,
    committed_date: committedDate,
    created_at: committedDate,
    parent_ids: parentIds,
    trailers: trailersOf(message),
    web_url: `${baseUrl}/${project.pathWithNamespace}/-/commit/${id}`,
  }
}

/** @param stats null: the commit could not be compared */
export const presentStats = (stats: CommitStats | null) => ({
  stats: stats && { ...stats, total: stats.additions + stats.deletions },
})

interface CommitDetail {
  commit: Commit
  /** Undefined: not requested. Null: the commit could not be compared with its parent. */
  stats: CommitStats | null | undefined
  /** The state derived from all statuses of the commit; null without any status. */
  status: string | null
  /** The newest pipeline of the commit; null without a status. */
  lastPipeline: PipelineWithAuthor | null
  /** The CI job that added the commit by a push or by the API. */
  job: JobIdentity | null
}

/**
 * Returns the fields of a commit in a list, the numbers of changed lines, and the state derived from the
 * statuses.
 */
export const presentCommitDetail = (
  { commit, stats, status, lastPipeline, job }: CommitDetail,
  project: Project,
  baseUrl: string,
): z.output<typeof commitDetailShape> => ({
  ...presentCommit(commit, project, baseUrl),
  ...(stats !== undefined && presentStats(stats)),
  status,
  project_id: project.id,
  last_pipeline: lastPipeline && presentPipelineBasic(lastPipeline, project, baseUrl),
  job_identity: presentJobIdentity(job),
})

const lineCount = z.int().nullable().optional().meta({
  description: 'Changed lines, only with `stat`; null for a binary file and for one that was not compared',
})

export const diffEntryShape = z
  .object({
    diff: z.string(),
    new_path: z.string(),
    old_path: z.string(),
    a_mode: z.string(),
    b_mode: z.string(),
    new_file: z.boolean(),
    renamed_file: z.boolean(),
    deleted_file: z.boolean(),
    too_large: z.boolean(),
    collapsed: z.boolean().meta({ description: 'Whether the text is left out because of `stat`' }),
    generated_file: z.boolean(),
    encoding: z.string().optional(),
    additions: lineCount,
    deletions: lineCount,
  })
  .meta({ id: 'DiffEntry', description: 'The diff of one file' })

/** @param unified whether the text starts with the lines `---` and `+++` */
export const presentDiffEntry = (entry: DiffEntry, unified: boolean): z.output<typeof diffEntryShape> => ({
  diff: unified ? entry.header + entry.patch : entry.patch,
  new_path: entry.newPath,
  old_path: entry.oldPath,
  a_mode: entry.oldMode,
  b_mode: entry.newMode,
  new_file: entry.newFile,
  renamed_file: entry.renamedFile,
  deleted_file: entry.deletedFile,
  too_large: entry.tooLarge,
  collapsed: entry.lines !== undefined,
  generated_file: isGeneratedFile(entry.newPath),
  // Text that is not UTF-8 is read with one character per byte.
  ...(entry.encoding === 'latin1' && { encoding: 'iso-8859-1' }),
  ...entry.lines,
})

export const dryRunShape = z
  .object({ dry_run: z.literal('success'), diffs: z.array(diffEntryShape) })
  .meta({ id: 'DryRun', description: 'The changes that a commit would make; nothing is stored' })

export const presentDryRun = (diffs: readonly DiffEntry[]): z.output<typeof dryRunShape> => ({
  dry_run: 'success',
  diffs: diffs.map((entry) => presentDiffEntry(entry, false)),
})

const unverified = { verification_status: z.literal('unverified'), commit_source: z.literal('gitaly') }

export const signatureShape = z
  .discriminatedUnion('signature_type', [
    z.object({
      signature_type: z.literal('PGP'),
      ...unverified,
      gpg_key_id: z.null(),
      gpg_key_primary_keyid: z.null(),
      gpg_key_user_name: z.null(),
      gpg_key_user_email: z.null(),
      gpg_key_subkey_id: z.null(),
    }),
    z.object({ signature_type: z.literal('SSH'), ...unverified, key: z.null() }),
    z.object({ signature_type: z.literal('X509'), ...unverified, x509_certificate: z.null() }),
  ])
  .meta({
    id: 'Signature',
    description: 'The kind of a signature; keys are not known, so nothing is verified',
  })

const keysOf = {
  PGP: {
    gpg_key_id: null,
    gpg_key_primary_keyid: null,
    gpg_key_user_name: null,
    gpg_key_user_email: null,
    gpg_key_subkey_id: null,
  },
  SSH: { key: null },
  X509: { x509_certificate: null },
}

/** Returns a signature in GitLab's shape. */
export const presentSignature = (kind: SignatureKind) => ({
  signature_type: kind,
  verification_status: 'unverified' as const,
  commit_source: 'gitaly' as const,
  ...keysOf[kind],
})
