import { isUtf8 } from 'node:buffer'
import { tooLarge } from '@switchyard/domain'
import { runGitOk } from '../processes/git-process.js'
import { pathArgument } from '../processes/path-arguments.js'
import type { Repository } from '../repository.js'

export interface BlameQuery {
  commitId: string
  /** Path of a file in the commit. */
  path: string
  /** First and last line, counted from 1; undefined: every line. */
  lines?: { start: number; end: number } | undefined
}

/** Adjacent lines that the same commit wrote last. */
export interface BlamedLines {
  commitId: string
  /** The lines, without line breaks. */
  lines: string[]
}

const outputBytesMax = 64 * 1024 * 1024

/**
 * Returns the lines of a file with the commits that wrote them.
 *
 * @param query its range begins at an existing line
 * @throws DomainError invalid for a path that is not UTF-8; unavailable after a minute; too-large when git
 * needs more memory than it may use
 */
export async function blameFile(
  repository: Repository,
  { commitId, path: filePath, lines }: BlameQuery,
): Promise<BlamedLines[]> {
  const command = {
    command: 'blame',
    flags: ['--porcelain', ...(lines ? [`-L${lines.start},${lines.end}`] : []), commitId],
    paths: [pathArgument(filePath)],
  }
  const { processBytesMax: memoryBytesMax } = repository.engine.slots
  const options = { stdoutBytesMax: outputBytesMax, memoryBytesMax }
  const { stdout, truncated } = await runGitOk(repository, command, options)
  if (truncated) throw tooLarge('The file has too many lines for blame')
  return parseBlame(stdout)
}

const header = /^([0-9a-f]{40}) \d+ \d+(?: \d+)?$/

/**
 * Parses the output of `git blame`. Each line begins with a tab, after a header and possibly facts about its
 * commit.
 */
function parseBlame(output: Buffer): BlamedLines[] {
  const groups: BlamedLines[] = []
  let commitId = ''
  for (const line of output.toString('latin1').split('\n')) {
    const found = header.exec(line)
    if (found) commitId = found[1] ?? ''
    if (!line.startsWith('\t')) continue
    const last = groups.at(-1)
    if (last?.commitId === commitId) last.lines.push(line.slice(1))
    else groups.push({ commitId, lines: [line.slice(1)] })
  }
  return decoded(groups)
}

/** Decodes the lines as UTF-8 when all of them are valid, otherwise as Latin-1, as in diffs. */
function decoded(groups: BlamedLines[]): BlamedLines[] {
  const bytesOf = (lines: readonly string[]) => Buffer.from(lines.join('\n'), 'latin1')
  if (!groups.every(({ lines }) => isUtf8(bytesOf(lines)))) return groups
  return groups.map(({ commitId, lines }) => ({ commitId, lines: bytesOf(lines).toString().split('\n') }))
}
