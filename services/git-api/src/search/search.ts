import { invalidParameters, notFound } from '@switchyard/domain'
import type { Commit } from '@switchyard/domain/commit'
import { findCommit, listCommits } from '@switchyard/git-storage/read-commits'
import { type FoundLines, searchFiles } from '@switchyard/git-storage/search-files'
import type { ProjectCall } from '../guards.js'

export interface Found<Item> {
  items: Item[]
  /** Null: more than are counted. */
  total: number | null
}

interface SearchQuery {
  /** One line. */
  text: string
  /** Unset: the default branch. */
  ref: string | undefined
  skip: number
  take: number
}

/** Commits whose message contains a text, the newest first. @throws DomainError not-found for an unknown `ref` */
export async function searchCommits(access: ProjectCall, query: SearchQuery): Promise<Found<Commit>> {
  const tip = await findTip(access, query.ref)
  if (!tip) return { items: [], total: 0 }
  const { text: message, skip, take } = query
  const { commits, total } = await listCommits(access.repository, { revision: tip, message, skip, take })
  return { items: commits, total }
}

/** Lines of files that contain a text. @throws DomainError not-found for an unknown `ref`; unprocessable for a repository too large */
export async function searchBlobs(access: ProjectCall, query: SearchQuery): Promise<Found<FoundLines>> {
  const tip = await findTip(access, query.ref)
  if (!tip) return { items: [], total: 0 }
  const { text, skip, take } = query
  const { found, isWhole } = await searchFiles(access.repository, tip.id, text)
  return { items: found.slice(skip, skip + take), total: isWhole ? found.length : null }
}

/** Null: the repository has no commit on its default branch. */
async function findTip(
  { project, repository }: ProjectCall,
  ref: string | undefined,
): Promise<Commit | null> {
  const tip = await findCommit(repository, ref ?? `refs/heads/${project.defaultBranch}`)
  if (!tip && ref !== undefined) throw notFound('Commit')
  return tip
}

/** @throws DomainError invalid-parameters for a text with several lines, each of which git would search for */
export function requireOneLine(text: string): void {
  if (/[\r\n]/.test(text)) throw invalidParameters(['search has more than one line'])
}
