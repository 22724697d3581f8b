import { DomainError, forbidden, unauthenticated } from '@switchyard/domain'
import { accessLevels, type Caller, canReadCode, requireScope } from '@switchyard/domain/access'
import type { Call, Guard } from '@switchyard/service-kit/http'
import type { Dependencies } from '../../dependencies.js'
import { accessOf, getVisibleProject, type ProjectCall, type VisibleProject } from '../../guards.js'

/**
 * Who may clone and push. git asks its user for a name and a password only when the answer is 401, so an
 * anonymous caller gets that wherever a token might help, and never learns whether a project exists.
 */
export function createGitGuards({ database, authenticate }: Pick<Dependencies, 'database' | 'authenticate'>) {
  async function visibleProject(call: Call): Promise<VisibleProject> {
    const caller = call.caller ?? (await basicCaller(call))
    const { namespace, project } = call.params
    return getVisibleProject(database, `${namespace}/${project}`, caller)
  }

  async function basicCaller({ raw }: Call): Promise<Caller | null> {
    const token = basicPassword(raw.request.headers.authorization)
    if (token === null) return null
    const caller = await authenticate(token)
    if (!caller) throw unauthenticated()
    return caller
  }

  const fetch: Guard<ProjectCall> = async (call) => {
    const found = await orChallenge(call, visibleProject(call))
    const { project, caller, memberLevel } = found
    if (caller) requireScope(caller, 'read_api', 'read_repository', 'write_repository')
    if (!canReadCode(accessOf(project), caller, memberLevel)) throw forbidden()
    return found
  }

  const push: Guard<ProjectCall> = async (call) => {
    const found = await orChallenge(call, visibleProject(call))
    if (!found.caller) throw challenge(call)
    requireScope(found.caller, 'write_repository')
    if (found.level < accessLevels.developer) throw forbidden('You are not allowed to push to this project')
    return found
  }

  return {
    fetch,
    push,
    fetchOrPush: ((call) =>
      call.raw.request.query.service === 'git-receive-pack'
        ? push(call)
        : fetch(call)) satisfies Guard<ProjectCall>,
  }
}

/** Turns a refusal that signing in might change into the question for a name and a password. */
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
  raw.response.set('WWW-Authenticate', 'Basic realm="Switchyard", charset="UTF-8"')
  return unauthenticated()
}

/** The password of basic authentication; null without one. The user name says nothing. */
function basicPassword(authorization: string | undefined): string | null {
  const encoded = /^basic +([\w+/=-]+)\s*$/i.exec(authorization ?? '')?.[1]
  if (encoded === undefined) return null
  const decoded = Buffer.from(encoded, 'base64').toString('utf8')
  const colon = decoded.indexOf(':')
  return colon < 0 || colon === decoded.length - 1 ? null : decoded.slice(colon + 1)
}
