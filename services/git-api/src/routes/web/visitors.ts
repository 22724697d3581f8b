import { DomainError, notFound } from '@switchyard/domain'
import { type ProjectRight, requireScope } from '@switchyard/domain/access'
import { type Call, type Guard, prefersHtml, type Reply } from '@switchyard/service-kit/http'
import type { Dependencies } from '../../dependencies.js'
import type { ProjectCall } from '../../guards.js'
import { consolePageOf } from '../../presenters/console-page.js'
import { projectPathOf } from '../../project-path.js'

/** Null: the project does not exist, or the anonymous caller may not see it. */
export type Visit = ProjectCall | null

/**
 * A guard of web addresses. Programs give a token, in a header or as a password; whoever has none learns nothing about a project
 * that is not open to all.
 */
export const visiting =
  ({ guards }: Pick<Dependencies, 'guards'>, right: ProjectRight): Guard<Visit> =>
  async (call) => {
    const { caller } = call
    if (caller && !caller.token.deploy)
      requireScope(caller, 'read_api', 'read_repository', 'write_repository')
    try {
      return await guards.getProjectFor(call, right, projectPathOf(call.params))
    } catch (error) {
      const isClosed =
        error instanceof DomainError && (error.kind === 'not-found' || error.kind === 'unauthenticated')
      if (caller === null && isClosed) return null
      throw error
    }
  }

/** The answer to a visit that failed: browsers go to the console, where their user is signed in. */
export function turnAway({ raw, params }: Call, kind: string, rest: readonly string[]): Reply {
  if (!prefersHtml(raw.request)) throw notFound('Project')
  const page = consolePageOf(projectPathOf(params).split('/'), [kind, ...rest])
  return { status: 302, headers: { Location: page, Vary: 'Accept' } }
}
