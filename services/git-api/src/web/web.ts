import { isRefusal, notFound } from '@switchyard/domain'
import { type ProjectRight, requireScope } from '@switchyard/domain/access'
import { folderOf, isRefName, type ReferenceKind, refNameLengthMax } from '@switchyard/domain/commit'
import { findRefs } from '@switchyard/git-storage/references'
import { type Call, type Guard, prefersHtml, type Reply, redirect } from '@switchyard/service-kit/http'
import { z } from 'zod'
import { type ProjectCall, type ProjectGuards, projectPathOf } from '../guards.js'
import { optional } from '../shapes/parameters.js'
import { consolePageOf } from './console-pages.js'

/** The address of a project's page; the web pages of GitLab that programs use are below it. */
export const projectPage = '/:namespace/:project'

/** Programs request web pages with a token in a header, or as the password of a user. */
export const pageOptions = { outsideApi: true, basicAuthentication: true }

/**
 * Returns a guard of web addresses. Programs send a token, in a header or as a password. A caller without one
 * gets null for every project that is not public, as for a missing project.
 *
 * @param referenceOf returns the id or the path of the project in an address
 */
export const webGuard =
  (
    guards: ProjectGuards,
    right: ProjectRight,
    referenceOf: (params: Record<string, string>) => string = projectPathOf,
  ): Guard<ProjectCall | null> =>
  async (call) => {
    const { caller } = call
    if (caller && !caller.token.deploy)
      requireScope(caller, 'read_api', 'read_repository', 'write_repository')
    try {
      return await guards.authorizeProject(call, right, referenceOf(call.params))
    } catch (error) {
      const isClosed = isRefusal(error, 'not-found', 'unauthenticated')
      if (caller === null && isClosed) return null
      throw error
    }
  }

/**
 * Redirects browsers to the console, where their user is signed in.
 *
 * @throws DomainError not-found for programs
 */
export function redirectToConsole({ raw, params }: Call, kind: string, rest: readonly string[]): Reply {
  if (!prefersHtml(raw.request)) throw notFound('Project')
  const page = consolePageOf(projectPathOf(params).split('/'), [kind, ...rest])
  return redirect(page, { Vary: 'Accept' })
}

/** GitLab's parameter that says whether a name is a branch or a tag. */
export const refType = () => optional(z.enum(['heads', 'tags']))

const kinds = { heads: 'branch', tags: 'tag' } as const satisfies Record<string, ReferenceKind>

export const kindOf = (type: keyof typeof kinds | undefined) => type && kinds[type]

/** A revision, and the parts of an address that follow it. */
interface SplitRevision {
  /** The full name of a branch or tag, or another revision. */
  revision: string
  rest: string[]
}

/**
 * Splits parts of an address such as `feature/x/docs/a.md`, which begin with a revision. The branch or tag
 * with the longest matching name counts; without a match, the first part is a hash or another name of a
 * commit.
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
    kinds.map((each) => ({ ref: folderOf[each] + name, length })),
  )
  const found = await findRefs(
    repository,
    candidates.map(({ ref }) => ref),
  )
  const longest = candidates.find(({ ref }) => found.has(ref))
  if (longest) return { revision: longest.ref, rest: parts.slice(longest.length) }
  const [first = '', ...rest] = parts
  return { revision: kind === undefined ? first : folderOf[kind] + first, rest }
}

/** Returns the names with which the parts can begin, longest first. */
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
