import { unprocessable } from '@switchyard/domain'
import { nameOf, readableText } from '@switchyard/domain/commit'
import { gitFailure, isTooHard, runGit } from './git-process.js'
import { getOrCompute, type Repository } from './repository.js'

/** Adjacent lines of a file, some of which have the text. */
export interface FoundLines {
  path: string
  /** Number of the first line, from 1. */
  startLine: number
  /** The lines, each with its line break; long ones are cut. */
  text: string
}

export interface FoundFiles {
  found: FoundLines[]
  /** Whether there is no more than `found`. */
  isWhole: boolean
}

/** Lines that are shown before and after each line with the text, as GitLab does. */
const contextLines = 2
/** Lines of one file, so that no file fills the answer alone. */
const linesPerFileMax = 50
const foundMax = 1000
const outputBytesMax = 4 * 1024 * 1024
const lineBytesMax = 1000
const timeoutMs = 10_000

/**
 * Lines of text files that contain a text, in upper or lower case, in the order of their paths. The search ends where it has found
 * enough for an answer.
 *
 * @param text without line breaks; git reads each line as a text of its own
 * @throws DomainError unprocessable when the repository is too large to be searched in ten seconds
 */
export const searchFiles = (repository: Repository, commitId: string, text: string): Promise<FoundFiles> =>
  getOrCompute(repository, `search ${commitId} ${text}`, () => grep(repository, commitId, text), bytesOf)

const bytesOf = ({ found }: FoundFiles) =>
  found.reduce((sum, { path, text }) => sum + 2 * (path.length + text.length) + 100, 100)

async function grep(repository: Repository, commitId: string, text: string): Promise<FoundFiles> {
  const flags = [
    ...['--fixed-strings', '--ignore-case', '-I', '--line-number', '--null', '--full-name', '--no-color'],
    ...[`--context=${contextLines}`, `--max-count=${linesPerFileMax}`, '--threads=1', '-f', '-'],
  ]
  const command = { command: 'grep', flags: [...flags, commitId], paths: [] }
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
  return { found: found.slice(0, foundMax), isWhole: !result.truncated && found.length <= foundMax }
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

/** Each line is `<commit>:<path> NUL <number> NUL <text> LF`; `--` stands between lines that are not adjacent. */
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
