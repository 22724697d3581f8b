import { invalid, tooLarge } from '@switchyard/domain'
import { type Commit, lineCountOf } from '@switchyard/domain/commit'
import type { ProjectCall } from '../guards.js'
import type { BlamedLinesView, FileView } from '../repository-views.js'
import { describeFile, type FileQuery } from './files.js'

/** Larger files are refused, because git compares a file with all its versions. */
const blamedBytesMax = 4 * 1024 * 1024

export interface LineRange {
  /** Counted from 1. */
  start: number
  end: number
}

/**
 * The lines of a file with the commits that wrote them, adjacent lines of one commit together. A binary file has no lines.
 *
 * @param range undefined: every line
 * @throws DomainError invalid for a range that ends before it begins; too-large for more than 4 MiB; unavailable when git
 *   takes longer than a minute; as {@link describeFile}
 */
export async function blameFile(
  access: ProjectCall,
  query: FileQuery,
  range: LineRange | undefined,
): Promise<{ file: FileView; groups: BlamedLinesView[] }> {
  if (range && range.start > range.end) {
    throw invalid('range[start] must be less than or equal to range[end]')
  }
  const { repository } = access
  const file = await describeFile(access, query)
  if (file.blob.size > blamedBytesMax) throw tooLarge('The file is too large for blame')
  const lines = lineCountOf(await repository.readBlob(file.blob)) ?? 0
  if (lines === 0 || (range && range.start > lines)) return { file, groups: [] }
  const question = { commitId: file.commitId, path: file.path, lines: range }
  const blamed = await repository.blameFile(question)
  const commits = new Map<string, Commit>()
  for (const id of new Set(blamed.map(({ commitId }) => commitId))) {
    const commit = await repository.findCommit(id)
    if (commit) commits.set(id, commit)
  }
  const groups = blamed.flatMap(({ commitId, lines: texts }) => {
    const commit = commits.get(commitId)
    return commit ? [{ commit, lines: texts }] : []
  })
  return { file, groups }
}
