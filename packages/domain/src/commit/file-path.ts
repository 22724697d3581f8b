import { isUtf8 } from 'node:buffer'
import { storedPath } from './quoted-name.js'

const pathBytesMax = 4096

/** Why a path is refused: it leaves the repository, or git or a file system takes it for something else. */
export type PathProblem = 'traversal' | 'invalid'

/**
 * Reads a file path that a caller sent, plain or quoted as diffs show it. Slashes at its start are dropped.
 *
 * @returns its components as trees store them, one character per byte; or why it is refused
 */
export function parseFilePath(path: string): string[] | PathProblem {
  const stored = storedPath(path).replace(/^\/+/, '')
  const parts = stored.split('/')
  if (parts.includes('..')) return 'traversal'
  if (stored.includes('\0') || stored.length > pathBytesMax) return 'invalid'
  return parts.some((part) => part === '' || part === '.' || isStoredGitFolder(part)) ? 'invalid' : parts
}

/** Git takes a byte that is not UTF-8 for the end of a name on HFS+, so what stands before it counts alone, too. */
function isStoredGitFolder(part: string): boolean {
  const bytes = Buffer.from(part, 'latin1')
  const text = bytes.toString()
  if (isUtf8(bytes)) return isGitFolder(text)
  return text.split('\\').some((piece) => isGitFolder(piece) || isGitFolder(piece.split('\ufffd')[0] ?? ''))
}

/**
 * Whether a path component is `.git` to any file system: in another case, in NTFS's short or stream
 * form, with trailing dots and blanks, or with code points that HFS+ ignores. A backslash separates
 * components on Windows, so each piece is looked at.
 */
export function isGitFolder(component: string): boolean {
  return component.split('\\').some((piece) => isNtfsGitFolder(piece) || isHfsGitFolder(piece))
}

const isNtfsGitFolder = (piece: string) => /^(?:\.git|git~1)[ .]*(?::|$)/i.test(piece)

const ignoredByHfs = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g

const isHfsGitFolder = (piece: string) => piece.replace(ignoredByHfs, '').toLowerCase() === '.git'
