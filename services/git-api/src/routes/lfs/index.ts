import { notFound } from '@switchyard/domain'
import { type Guard, type Route, route } from '@switchyard/service-kit/http'
import type { Dependencies } from '../../dependencies.js'
import type { ProjectCall } from '../../guards.js'
import { lfsAnswers } from '../../presenters/lfs.js'
import { createGitGuards } from '../git-http/git-guards.js'
import { createLock, listLocks, unlock, verifyLocks } from './locks.js'
import { batch, download, upload, verify } from './objects.js'

/** The API of Git LFS. Who may fetch may download, who may push may upload and lock. */
export function lfsRoutes(deps: Dependencies): Route[] {
  const guards = createGitGuards(deps)
  const fetch = whereEnabled(guards.fetch)
  const push = whereEnabled(guards.push)
  const repository = '/:namespace/:project'
  const api = `${repository}/info/lfs`
  const object = `${repository}/gitlab-lfs/objects/:oid`
  const options = { outsideApi: true, basicAuthentication: true, answerForm: lfsAnswers }
  return [
    route('POST', `${api}/objects/batch`, fetch, batch(deps, push), options),
    route('POST', `${api}/objects/verify`, push, verify(deps), options),
    route('GET', object, fetch, download(deps), { ...options, longLived: true }),
    route('PUT', `${object}/:size`, push, upload(deps), { ...options, streamsBody: true, longLived: true }),
    route('GET', `${api}/locks`, fetch, listLocks(deps), options),
    route('POST', `${api}/locks`, push, createLock(deps), options),
    route('POST', `${api}/locks/verify`, push, verifyLocks(deps), options),
    route('POST', `${api}/locks/:lock_id/unlock`, push, unlock(deps), options),
  ]
}

/** Refuses, as GitLab does, where the project has Git LFS switched off, after the guard has shown the project to the caller. */
const whereEnabled =
  <Access extends ProjectCall>(guard: Guard<Access>): Guard<Access> =>
  async (call) => {
    const access = await guard(call)
    if (!access.project.lfsEnabled) throw notFound()
    return access
  }
