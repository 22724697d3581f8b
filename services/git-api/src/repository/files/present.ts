import { signatureTime } from '@switchyard/domain/commit'
import type { FolderEntry } from '@switchyard/git-storage/files'
import { timeText } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { BlamedLinesView, FileView } from './files.js'

/** Returns the part of a path after its last slash; the name in a quoted path is quoted, too. */
export function baseName(path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1)
  return path.startsWith('"') && path.endsWith('"') && path.includes('/') && path.includes('\\')
    ? `"${name}`
    : name
}

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

/** Returns a file in GitLab's shape. */
export const presentFile = (file: FileView, content: Buffer): z.output<typeof fileShape> => ({
  ...presentFacts(file),
  content: content.toString('base64'),
})

/**
 * Returns the properties of a file as headers, such as `X-Gitlab-File-Name`. Characters outside ASCII are
 * percent-encoded.
 */
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
    last_commit_id: z.string().meta({ description: 'To be sent with the next change of the file' }),
    content_sha256: z.string(),
  })
  .meta({ id: 'ChangedFile', description: 'A file after it was created or updated' })

/** Returns a file that a request has created or updated on a branch. */
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

export const blameShape = z
  .object({
    commit: z.object({
      id: z.string(),
      parent_ids: z.array(z.string()),
      message: z.string(),
      authored_date: timeText(),
      author_name: z.string(),
      author_email: z.string(),
      committed_date: timeText(),
      committer_name: z.string(),
      committer_email: z.string(),
    }),
    lines: z.array(z.string()).meta({ description: 'Without line breaks' }),
  })
  .meta({ id: 'Blame', description: 'Adjacent lines of a file that the same commit wrote' })

export const presentBlame = ({ commit, lines }: BlamedLinesView): z.output<typeof blameShape> => ({
  commit: {
    id: commit.id,
    parent_ids: commit.parentIds,
    message: commit.message,
    authored_date: signatureTime(commit.author),
    author_name: commit.author.name,
    author_email: commit.author.email,
    committed_date: signatureTime(commit.committer),
    committer_name: commit.committer.name,
    committer_email: commit.committer.email,
  },
  lines,
})

export const treeEntryShape = z
  .object({
    id: z.string(),
    name: z.string(),
    type: z.enum(['tree', 'blob', 'commit']),
    path: z.string(),
    mode: z.string(),
  })
  .meta({
    id: 'TreeEntry',
    description:
      'A folder, a file, or a submodule, whose id is that of its commit. Names that are not UTF-8 are quoted',
  })

/** Returns an entry of a folder in GitLab's shape. */
export const presentTreeEntry = ({ id, type, path, mode }: FolderEntry): z.output<typeof treeEntryShape> => ({
  id,
  name: baseName(path),
  type,
  path,
  mode,
})
