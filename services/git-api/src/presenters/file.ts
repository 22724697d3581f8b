import { z } from 'zod'
import type { FileView } from '../repository-views.js'
import { baseName } from './base-name.js'

export const fileShape = z
  .object({
    file_name: z.string(),
    file_path: z.string(),
    size: z.int().meta({ description: 'Bytes' }),
    encoding: z.literal('base64'),
    content_sha256: z.string(),
    ref: z.string(),
    blob_id: z.string(),
    commit_id: z.string(),
    last_commit_id: z.string().meta({ description: 'The newest commit that changed the file' }),
    execute_filemode: z.boolean(),
    content: z.string().meta({ description: 'Base64' }),
  })
  .meta({ id: 'File', description: 'A file at a revision' })

const presentFacts = ({ path, revision, blob, sha256, commitId, lastCommitId, isExecutable }: FileView) => ({
  file_name: baseName(path),
  file_path: path,
  size: blob.size,
  encoding: 'base64' as const,
  content_sha256: sha256,
  ref: revision,
  blob_id: blob.id,
  commit_id: commitId,
  last_commit_id: lastCommitId,
  execute_filemode: isExecutable,
})

/** A file in GitLab's shape. */
export const presentFile = (file: FileView, content: Buffer): z.output<typeof fileShape> => ({
  ...presentFacts(file),
  content: content.toString('base64'),
})

/** Facts about a file as headers, such as `X-Gitlab-File-Name`. Characters outside ASCII are percent-encoded. */
export const presentFileHeaders = (file: FileView): Record<string, string> =>
  Object.fromEntries(
    Object.entries(presentFacts(file)).map(([key, value]) => [
      `X-Gitlab-${key.split('_').map(capitalized).join('-')}`,
      encodeOutsideAscii(String(value)),
    ]),
  )

const capitalized = (word: string) => word.charAt(0).toUpperCase() + word.slice(1)

const encodeOutsideAscii = (text: string) =>
  text.replace(/[^ -~]|%/gu, (character) => encodeURIComponent(character))

export const changedFileShape = z
  .object({
    file_path: z.string(),
    branch: z.string(),
    commit_id: z.string(),
    last_commit_id: z.string().meta({ description: 'Send it with the next change of the file' }),
    content_sha256: z.string(),
  })
  .meta({ id: 'ChangedFile', description: 'A file after it was created or updated' })

/** A file that a request has created or updated on a branch. */
export const presentChangedFile = (
  { path, commitId, lastCommitId, sha256 }: FileView,
  branch: string,
): z.output<typeof changedFileShape> => ({
  file_path: path,
  branch,
  commit_id: commitId,
  last_commit_id: lastCommitId,
  content_sha256: sha256,
})
