const pathBytesMax = 4096

/**
 * A path as it may enter a tree, without slashes at its start; null when git or a file system it is
 * checked out on would take it for something else.
 */
export type PathProblem = 'traversal' | 'invalid'

/**
 * Reads a file path that a caller sent.
 *
 * @returns its components, or why it is refused
 */
export function parseFilePath(path: string): string[] | PathProblem {
  const parts = path.replace(/^\/+/, '').split('/')
  if (parts.includes('..')) return 'traversal'
  if (path.includes('\0') || new TextEncoder().encode(path).length > pathBytesMax) return 'invalid'
  return parts.some((part) => part === '' || part === '.' || isGitFolder(part)) ? 'invalid' : parts
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
