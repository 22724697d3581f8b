import { isUtf8 } from 'node:buffer'
import { invalid } from '@switchyard/domain'
import { bytesOfName } from '@switchyard/domain/commit'
import type { GitCommand } from './git-process.js'

interface PathArguments extends Required<Pick<GitCommand, 'flags'>>, Pick<GitCommand, 'paths'> {
  stdin?: Buffer
}

/**
 * Returns a path as the argument of a process, for commands that take no path from their standard input.
 *
 * @throws DomainError invalid for a path that is not UTF-8
 */
export function pathArgument(filePath: string): string {
  const bytes = bytesOfName(filePath)
  if (isUtf8(bytes)) return bytes.toString()
  throw invalid('git cannot be asked about a path that is not UTF-8')
}

/** Returns whether a path can be passed to git, see {@link pathArguments}. */
export function isAskable(filePath: string): boolean {
  const bytes = bytesOfName(filePath)
  return isUtf8(bytes) || isOneLine(bytes.toString('latin1'))
}

/**
 * Returns whether git reads a path as one line of its standard input. A carriage return at the end of a line
 * is not read as a part of the path.
 */
export const isOneLine = (path: string): boolean => !/\n|\r$/.test(path)

/**
 * Returns the arguments that pass one path to `git log` or `git rev-list`. Arguments of a process are text,
 * so a path that is not UTF-8 goes through the standard input.
 *
 * @throws DomainError invalid for a path that is not UTF-8 and contains a line break
 */
export function pathArguments(filePath: string): PathArguments {
  const bytes = bytesOfName(filePath)
  if (isUtf8(bytes)) return { flags: [], paths: [bytes.toString()] }
  if (!isAskable(filePath))
    throw invalid('git cannot be asked about a path that is not UTF-8 and has a line break')
  return { flags: ['--stdin'], stdin: Buffer.concat([Buffer.from('--\n'), bytes, Buffer.from('\n')]) }
}

/** Returns a path, given as trees store it, as text for git; null when it is not UTF-8. */
export function textOfNames(names: readonly string[]): string | null {
  const bytes = Buffer.from(names.join('/'), 'latin1')
  return isUtf8(bytes) ? bytes.toString() : null
}
