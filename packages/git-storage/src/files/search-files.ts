import { isUtf8 } from 'node:buffer'
import { unprocessable } from '@switchyard/domain'
import { bytesOfName, nameOf, readableText } from '@switchyard/domain/commit'
import { gitFailure, isTooHard, runGit } from '../processes/git-process.js'
import { getOrCompute, type Repository } from '../repository.js'
import { compileFilters, type FoundName, type PathFilter, readStartOf, searchNames } from './search-names.js'

/** Adjacent lines of a file, some of which contain the text. */
export interface FoundLines {
  path: string
  /** Number of the first line, from 1. */
  startLine: number
  /** The lines, each with its line break; long ones are cut. */
  text: string
}

export interface FileQuery {
  /**
   * Text to search for, without line breaks, because git searches each line separately. Empty: every file
   * that meets the filters is found.
   */
  text: string
  filters: readonly PathFilter[]
}

export interface FoundFiles {
  /** Lines of files, then files that were only found by their path. */
  found: (FoundLines | FoundName)[]
  /** Whether `found` is everything. */
  isWhole: boolean
}

/** Lines that are shown before and after each found line, as in GitLab. */
const contextLines = 2
/** Most lines of one file, so that no file fills the answer alone. */
const linesPerFileMax = 50
const foundMax = 1000
const outputBytesMax = 4 * 1024 * 1024
const lineBytesMax = 1000
const timeoutMs = 10_000

/**
 * Most files that are passed to git by name. Beyond it, git searches all files, and hits in others are
 * dropped.
 */
const namedMax = 200
const namedCharsMax = 100_000

/**
 * Finds lines of text files that contain a text, and files whose path contains it, in upper or lower case,
 * ordered by path. The search ends once it has found enough for an answer.
 *
 * @throws DomainError unprocessable when the repository is too large to be searched in ten seconds
 */
export const searchFiles = (
  repository: Repository,
  commitId: string,
  query: FileQuery,
): Promise<FoundFiles> =>
  getOrCompute(
    repository,
    `search ${commitId} ${JSON.stringify(query)}`,
    () => search(repository, commitId, query),
    bytesOf,
  )

const bytesOf = ({ found }: FoundFiles) =>
  found.reduce(
    (sum, each) => sum + 2 * (each.path.length + ('text' in each ? each.text.length : 40)) + 100,
    100,
  )

async function search(
  repository: Repository,
  commitId: string,
  { text, filters }: FileQuery,
): Promise<FoundFiles> {
  const isWanted = compileFilters(filters)
  const wanted = await searchNames(repository, commitId, isWanted, text)
  const inFiles =
    text === ''
      ? { found: [], isWhole: true }
      : await grep(repository, commitId, { text, filters, wanted: wanted.names })
  const lines = inFiles.found.filter(({ path }) => isWanted(path))
  const paths = new Set(lines.map(({ path }) => path))
  const found = [...lines, ...wanted.named.filter(({ path }) => !paths.has(path))]
  return {
    found: found.slice(0, foundMax),
    isWhole: inFiles.isWhole && wanted.isWhole && found.length <= foundMax,
  }
}

interface WantedLines extends FileQuery {
  /** Files that meet the filters. */
  wanted: readonly FoundName[]
}

async function grep(repository: Repository, commitId: string, { text, filters, wanted }: WantedLines) {
  if (wanted.length === 0) return { found: [], isWhole: true }
  const flags = [
    '--fixed-strings',
    '--ignore-case',
    '-I',
    '--line-number',
    '--null',
    '--full-name',
    '--no-color',
    `--context=${contextLines}`,
    `--max-count=${linesPerFileMax}`,
    '--threads=1',
    '-f',
    '-',
  ]
  const paths = filters.length === 0 ? [] : (argumentsOf(wanted) ?? [])
  const command = { command: 'grep', flags: [...flags, commitId], paths }
  const { processBytesMax: memoryBytesMax } = repository.engine.slots
  const limits = { stdin: text, timeoutMs, memoryBytesMax, stdoutBytesMax: outputBytesMax }
  const result = await runGit(repository, command, limits).catch((error: unknown) => {
    if (!isTooHard(error)) throw error
    throw unprocessable('The repository is too large to be searched. Clone it and search there', {
      cause: error,
    })
  })
  if (!result.truncated && result.code !== 0 && result.code !== 1) throw gitFailure(command, result)
  const found = readOutput(result.stdout, commitId)
  return { found, isWhole: !result.truncated && found.length <= foundMax }
}

/** Returns the paths as arguments of git; null when there are too many, or when one cannot be an argument. */
function argumentsOf(files: readonly FoundName[]): string[] | null {
  if (files.length > namedMax) return null
  const paths = files.map(({ path }) => bytesOfName(path))
  const chars = paths.reduce((sum, { length }) => sum + length, 0)
  return chars <= namedCharsMax && paths.every(isUtf8) ? paths.map(String) : null
}

/** Bytes at the beginning of a file that are read to display it. */
const startBytesMax = 5 * lineBytesMax
const startLinesMax = 5

/** Reads the first lines of a file that was found by its path; no lines of a file that is not text. */
export async function readFirstLines(repository: Repository, found: FoundName): Promise<FoundLines> {
  const bytes = await readStartOf(repository, found, startBytesMax)
  const lines = bytes.includes(0) ? [] : bytes.toString().split('\n', startLinesMax)
  const text = lines.map((line) => `${lineOf(Buffer.from(line))}\n`).join('')
  return { path: found.path, startLine: 1, text: bytes.length === 0 ? '' : text }
}

function readOutput(output: Buffer, commitId: string): FoundLines[] {
  const found: FoundLines[] = []
  for (const { path, number, text, isFirst } of linesOf(output, Buffer.from(`${commitId}:`))) {
    const last = found.at(-1)
    if (last?.path === path && !isFirst) last.text += text
    else if (found.push({ path, startLine: number, text }) > foundMax) break
  }
  return found
}

/**
 * Parses the found lines. Each is `<commit>:<path> NUL <number> NUL <text> LF`; `--` separates lines that are
 * not adjacent.
 */
function* linesOf(output: Buffer, prefix: Buffer) {
  let isFirst = true
  for (let at = 0; at < output.length; ) {
    const isLine = output.subarray(at, at + prefix.length).equals(prefix)
    const pathEnd = isLine ? output.indexOf(0, at) : at
    const numberEnd = isLine ? output.indexOf(0, pathEnd + 1) : at
    const end = output.indexOf('\n', numberEnd)
    // The output was cut.
    if ([pathEnd, numberEnd, end].includes(-1)) return
    if (isLine) {
      const path = nameOf(output.subarray(at + prefix.length, pathEnd))
      const number = Number(output.toString('latin1', pathEnd + 1, numberEnd))
      yield { path, number, text: `${lineOf(output.subarray(numberEnd + 1, end))}\n`, isFirst }
    }
    isFirst = !isLine
    at = end + 1
  }
}

const lineOf = (bytes: Buffer) => readableText(bytes.subarray(0, lineBytesMax)).replaceAll('\0', '\ufffd')
