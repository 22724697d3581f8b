import { DomainError, unauthenticated } from '@switchyard/domain'
import { type Caller, type ProjectRight, requireScope, type Scope } from '@switchyard/domain/access'
import type { Call, Guard } from '@switchyard/service-kit/http'
import type { Dependencies } from '../../dependencies.js'
import type { ProjectCall } from '../../guards.js'

/**
 * Guards of clones and pushes. git asks its user for a name and a password only when the answer is 401, so an anonymous
 * caller gets 401 wherever a token might help, and never learns whether a project exists.
 */
export function createGitGuards({ guards, authenticate }: Pick<Dependencies, 'guards' | 'authenticate'>) {
  /** Checks the scope of the token, then the right of its holder in the project. */
  const guard =
    (right: ProjectRight, ...scopes: Scope[]): Guard<ProjectCall> =>
    (call) => {
      const found = async () => {
        const sender = call.caller ?? (await basicCaller(call))
        if (sender) requireScope(sender, ...scopes)
        return guards.getProjectFor(call, right, projectPathOf(call), sender)
      }
      return orChallenge(call, found())
    }

  async function basicCaller({ raw }: Call): Promise<Caller | null> {
    const token = basicPassword(raw.request.headers.authorization)
    if (token === null) return null
    const caller = await authenticate(token)
    if (!caller) throw unauthenticated()
    return caller
  }

  const fetch = guard('read_code', 'read_api', 'read_repository', 'write_repository')
  const push = guard('push_code', 'write_repository')

  return {
    fetch,
    push,
    fetchOrPush: ((call) =>
      call.raw.request.query.service === 'git-receive-pack'
        ? push(call)
        : fetch(call)) satisfies Guard<ProjectCall>,
  }
}

/** The path of a project never ends in `.git`. */
const projectPathOf = ({ params }: Call) => `${params.namespace}/${params.project?.replace(/\.git$/, '')}`

/** Turns a refusal into the question for a name and a password, where signing in might help. */
async function orChallenge<T>(call: Call, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (!(error instanceof DomainError)) throw error
    const anonymous = call.caller === null && basicPassword(call.raw.request.headers.authorization) === null
    if (error.kind === 'unauthenticated' || (error.kind === 'not-found' && anonymous)) throw challenge(call)
    throw error
  }
}

function challenge({ raw }: Call): DomainError {
  // A guard is called again while a long answer is sent.
  if (!raw.response.headersSent)
    raw.response.set('WWW-Authenticate', 'Basic realm="Switchyard", charset="UTF-8"')
  return unauthenticated()
}

/** The password of basic authentication; null without one. The user name is not used. */
function basicPassword(authorization: string | undefined): string | null {
  const encoded = /^basic +([\w+/=-]+)\s*$/i.exec(authorization ?? '')?.[1]
  if (encoded === undefined) return null
  const decoded = Buffer.from(encoded, 'base64').toString('utf8')
  const colon = decoded.indexOf(':')
  return colon < 0 || colon === decoded.length - 1 ? null : decoded.slice(colon + 1)
}
