import { isUtf8 } from 'node:buffer'
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
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

/** Lines that are parsed at once, which takes some milliseconds. */
const sliceLines = 5_000

/**
 * Parses the output of `git blame`. Each line begins with a tab, after a header and possibly facts about its
 * commit. Yields to the event loop during a long output.
 */
async function parseBlame(output: Buffer): Promise<BlamedLines[]> {
  const groups: BlamedLines[] = []
  let commitId = ''
  let parsed = 0
  for (let at = 0, end = output.indexOf('\n'); end >= 0; at = end + 1, end = output.indexOf('\n', at)) {
    const line = output.toString('latin1', at, end)
    const found = header.exec(line)
    if (found) commitId = found[1] ?? ''
    parsed += 1
    if (parsed % sliceLines === 0) await yieldToEventLoop()
    if (!line.startsWith('\t')) continue
    const last = groups.at(-1)
    if (last?.commitId === commitId) last.lines.push(line.slice(1))
    else groups.push({ commitId, lines: [line.slice(1)] })
  }
  return decoded(groups)
}

/** Decodes the lines as UTF-8 when all of them are valid, otherwise as Latin-1, as in diffs. */
async function decoded(groups: BlamedLines[]): Promise<BlamedLines[]> {
  const texts: BlamedLines[] = []
  let lineCount = 0
  for (const { commitId, lines } of groups) {
    const bytes = Buffer.from(lines.join('\n'), 'latin1')
    if (!isUtf8(bytes)) return groups
    texts.push({ commitId, lines: bytes.toString().split('\n') })
    lineCount += lines.length
    if (lineCount < sliceLines) continue
    lineCount = 0
    await yieldToEventLoop()
  }
  return texts
}
