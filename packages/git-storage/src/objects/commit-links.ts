import { UnknownLayout } from './layout.js'
import type { CommitLinks } from './walk.js'

const header =
  /^tree ([0-9a-f]{40})\n((?:parent [0-9a-f]{40}\n)*)author [^\n]*\ncommitter [^\n<>]*<[^\n<>]*> (\d{1,11}) [^\n]*\n/

/** Parses parents and committer date of a commit. @throws UnknownLayout for unusual headers, which git interprets by its own rules */
export function commitLinks(id: string, content: Buffer): CommitLinks {
  const found = header.exec(content.toString('latin1'))
  if (!found) throw new UnknownLayout('unusual commit')
  const [, treeId = '', parents = '', seconds] = found
  const parentIds =
    parents === ''
      ? []
      : parents
          .trimEnd()
          .split('\n')
          .map((line) => line.slice('parent '.length))
  return { id, treeId, parentIds, seconds: Number(seconds) }
}
