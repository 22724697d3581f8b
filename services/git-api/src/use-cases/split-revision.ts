import { isRefName, refNameLengthMax } from '@switchyard/domain/commit'
import { fullName, type ReferenceKind } from '@switchyard/git-storage'
import type { ProjectCall } from '../guards.js'

/** A revision, and the parts of an address that follow it. */
export interface SplitRevision {
  /** In full when it is a branch or a tag. */
  revision: string
  rest: string[]
}

/**
 * Splits parts of an address such as `feature/x/docs/a.md`, which begin with a revision. Of branches and tags the one with the
 * longest name counts; without one, the first part is a hash or another name of a commit.
 *
 * @param kind the only kind of reference that counts. Unset: both, branches first
 */
export async function splitRevision(
  { repository }: Pick<ProjectCall, 'repository'>,
  parts: readonly string[],
  kind?: ReferenceKind,
): Promise<SplitRevision> {
  const kinds: ReferenceKind[] = kind === undefined ? ['branch', 'tag'] : [kind]
  const candidates = beginnings(parts).flatMap(({ name, length }) =>
    kinds.map((each) => ({ ref: fullName(each, name), length })),
  )
  const found = await repository.findRefs(candidates.map(({ ref }) => ref))
  const longest = candidates.find(({ ref }) => found.has(ref))
  if (longest) return { revision: longest.ref, rest: parts.slice(longest.length) }
  const [first = '', ...rest] = parts
  return { revision: kind === undefined ? first : fullName(kind, first), rest }
}

/** The names that the parts can begin with, longest first. */
function beginnings(parts: readonly string[]): { name: string; length: number }[] {
  const found: { name: string; length: number }[] = []
  let name = ''
  for (const [index, part] of parts.entries()) {
    name = index === 0 ? part : `${name}/${part}`
    if (name.length > refNameLengthMax) break
    if (isRefName(name)) found.unshift({ name, length: index + 1 })
  }
  return found
}
