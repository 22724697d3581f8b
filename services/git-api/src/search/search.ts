import { invalidParameters, notFound } from '@switchyard/domain'
import { type Commit, defaultBranchRef } from '@switchyard/domain/commit'
import { findCommit, listCommits } from '@switchyard/git-storage/commits'
import { type FileQuery, type FoundLines, readFirstLines, searchFiles } from '@switchyard/git-storage/files'
import type { ProjectCall } from '../guards.js'

export interface Found<Item> {
  items: Item[]
  /** Null: there are more than the limit of counting. */
  total: number | null
}

interface SearchQuery {
  /** A text without line breaks. */
  text: string
  /** Unset: the default branch. */
  ref: string | undefined
  skip: number
  take: number
}

/**
 * Finds commits whose message contains a text, newest first.
 *
 * @throws DomainError not-found for an unknown `ref`
 */
export async function searchCommits(access: ProjectCall, query: SearchQuery): Promise<Found<Commit>> {
  const tip = await findTip(access, query.ref)
  if (!tip) return { items: [], total: 0 }
  const { text: message, skip, take } = query
  const { commits, total } = await listCommits(access.repository, { revision: tip, message, skip, take })
  return { items: commits, total }
}

/**
 * Finds lines of files that contain a text, and files whose path contains it.
 *
 * @throws DomainError not-found for an unknown `ref`; unprocessable for a repository that is too large;
 *   invalid-parameters for too many path filters
 */
export async function searchBlobs(access: ProjectCall, query: SearchQuery): Promise<Found<FoundLines>> {
  const tip = await findTip(access, query.ref)
  if (!tip) return { items: [], total: 0 }
  const { text, skip, take } = query
  const { found, isWhole } = await searchFiles(access.repository, tip.id, readQuery(text))
  const items: FoundLines[] = []
  // First lines are read only for the files on this page.
  for (const each of found.slice(skip, skip + take)) {
    items.push('text' in each ? each : await readFirstLines(access.repository, each))
  }
  return { items, total: isWhole ? found.length : null }
}

/** Patterns of the whole path for each of GitLab's path filters. */
const patternOf = {
  filename: (value: string) => `*${value}`,
  path: (value: string) => `*${value}*`,
  extension: (value: string) => `*.${value}`,
}

/** Most path filters of a search, because each of them is applied to every path of the commit. */
const filtersMax = 20

const filterText = /^(-?)(filename|path|extension):(.+)$/s
/** Matches a word. Words end at blanks outside of quotes: `path:"a b"` is one word. */
const word = /(?:[^\s"]|"[^"]*"|")+/g

/**
 * Reads the filters and the text of a query. Each filter is a separate word; a query without filters is the
 * text itself.
 *
 * @throws DomainError invalid-parameters for too many filters
 */
function readQuery(text: string): FileQuery {
  const filters: FileQuery['filters'][number][] = []
  const others: string[] = []
  for (const [found] of text.matchAll(word)) {
    const [, minus, name, quoted = ''] = filterText.exec(found) ?? []
    const value = quoted.replaceAll(/["']/g, '')
    if (value === '') others.push(found)
    else filters.push({ pattern: patternOf[name as keyof typeof patternOf](value), isNegated: minus === '-' })
  }
  if (filters.length > filtersMax) {
    throw invalidParameters([`search has more than ${filtersMax} path filters`])
  }
  return filters.length === 0 ? { text, filters } : { text: others.join(' '), filters }
}

/** Finds the newest commit. Null: the repository has no commit on its default branch. */
async function findTip(
  { project, repository }: ProjectCall,
  ref: string | undefined,
): Promise<Commit | null> {
  const tip = await findCommit(repository, ref ?? defaultBranchRef(project))
  if (!tip && ref !== undefined) throw notFound('Commit')
  return tip
}

/**
 * @throws DomainError invalid-parameters for a text with several lines, because git would search for each of
 *   them
 */
export function requireOneLine(text: string): void {
  if (/[\r\n]/.test(text)) throw invalidParameters(['search has more than one line'])
}
