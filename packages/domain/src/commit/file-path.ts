import { isUtf8 } from 'node:buffer'
import { nameOf, storedPath } from './quoted-name.js'

const pathBytesMax = 4096

/**
 * `traversal`: the path leads outside the repository; `invalid`: git or a file system would interpret the
 * path differently.
 */
export type PathProblem = 'traversal' | 'invalid'

/**
 * Parses a file path of a request, plain or quoted as diffs show it. Leading slashes are dropped.
 *
 * @returns the components as trees store them, one character for each byte, or the problem of the path
 */
export function parseFilePath(path: string): string[] | PathProblem {
  const stored = storedPath(path).replace(/^\/+/, '')
  const parts = stored.split('/')
  if (parts.includes('..')) return 'traversal'
  if (stored.includes('\0') || stored.length > pathBytesMax) return 'invalid'
  return parts.some((part) => part === '' || part === '.' || isStoredGitFolder(part)) ? 'invalid' : parts
}

/** Removes empty components, which name nothing, from a path: `/a//b/` is `a/b`. */
export const plainPath = (path: string): string =>
  nameOf(Buffer.from(storedPath(path).split('/').filter(Boolean).join('/'), 'latin1'))

/**
 * Returns whether a name is stored as a `.git` folder. On HFS+, git ends a name at a byte that is not UTF-8,
 * so the part before that byte is checked, too.
 */
function isStoredGitFolder(part: string): boolean {
  const bytes = Buffer.from(part, 'latin1')
  const text = bytes.toString()
  if (isUtf8(bytes)) return isGitFolder(text)
  return text.split('\\').some((piece) => isGitFolder(piece) || isGitFolder(piece.split('\ufffd')[0] ?? ''))
}

/**
 * Returns whether any file system treats a path component as `.git`: in upper case, in NTFS's short or stream
 * form, with trailing dots or blanks, or with code points that HFS+ ignores. A backslash separates components
 * on Windows, so each piece is checked.
 */
export function isGitFolder(component: string): boolean {
  return component.split('\\').some((piece) => isNtfsGitFolder(piece) || isHfsGitFolder(piece))
}

const isNtfsGitFolder = (piece: string) => /^(?:\.git|git~1)[ .]*(?::|$)/i.test(piece)

const ignoredByHfs = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g

const isHfsGitFolder = (piece: string) => piece.replace(ignoredByHfs, '').toLowerCase() === '.git'

const generatedNames = new Set([
  'Cargo.lock',
  'Gemfile.lock',
  'Gopkg.lock',
  'composer.lock',
  'go.sum',
  'npm-shrinkwrap.json',
  'package-lock.json',
  'pnpm-lock.yaml',
  'poetry.lock',
  'yarn.lock',
])

const generatedEndings = ['.min.js', '.min.css', '.js.map', '.css.map', '.pb.go', '_pb2.py', '.designer.cs']

/**
 * Returns whether the name of a file shows that a tool generates it, so that viewers may collapse its diff.
 */
export function isGeneratedFile(path: string): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1)
  return generatedNames.has(name) || generatedEndings.some((ending) => name.endsWith(ending))
}
