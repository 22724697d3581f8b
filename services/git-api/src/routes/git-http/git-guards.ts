import { DomainError, unauthenticated } from '@switchyard/domain'
import { type Caller, type ProjectRight, requireScope, type Scope } from '@switchyard/domain/access'
import type { Guard } from '@switchyard/service-kit/http'
import type { Dependencies } from '../../dependencies.js'
import type { ProjectCall } from '../../guards.js'
import { projectPathOf } from '../../project-path.js'

/**
 * Guards of clones and pushes. git asks its user for a name and a password only when the answer is 401, so an anonymous
 * caller gets 401 wherever a token might help, and never learns whether a project exists.
 */
export function createGitGuards({ guards }: Pick<Dependencies, 'guards'>) {
  /** Checks the scope of the token (a deploy token has none and may fetch), then the right of its holder in the project. */
  const guard =
    (right: ProjectRight, ...scopes: Scope[]): Guard<ProjectCall> =>
    async (call) => {
      const { caller } = call
      const fetches = right === 'read_code' && caller?.token.deploy
      if (caller && !fetches) requireScope(caller, ...scopes)
      try {
        return await guards.getProjectFor(call, right, projectPathOf(call.params))
      } catch (error) {
        const mightSignIn = caller === null && error instanceof DomainError && error.kind === 'not-found'
        throw mightSignIn ? unauthenticated() : error
      }
    }

  const fetch = guard('read_code', 'read_api', 'read_repository', 'write_repository')
  const push = guard('push_code', 'write_repository') as Guard<ProjectCall<Caller>>

  return {
    fetch,
    push,
    fetchOrPush: ((call) =>
      call.raw.request.query.service === 'git-receive-pack'
        ? push(call)
        : fetch(call)) satisfies Guard<ProjectCall>,
  }
}
