import type { GitService } from '@switchyard/git-storage/git-http'
import { answered, endpoint, type Route, route } from '@switchyard/service-kit/http'
import { z } from 'zod'
import { createGitGuards, type ProjectCall } from '../../guards.js'
import type { GitHttpDependencies, ServeExchange } from './git-http.js'
import * as gitHttp from './git-http.js'

/** git's smart HTTP protocol: clone, fetch, push. The path of the project may end in `.git`. */
export function gitHttpRoutes(deps: GitHttpDependencies): Route[] {
  const { fetchOrPush, fetch, push } = createGitGuards(deps.guards)
  const repository = '/:namespace/:project'
  const options = { outsideApi: true, basicAuthentication: true, streamsBody: true, longLived: true }
  return [
    route('GET', `${repository}/info/refs`, fetchOrPush, infoRefs(deps.transferIdleMs), options),
    route(
      'POST',
      `${repository}/git-upload-pack`,
      fetch,
      rpc(deps, 'git-upload-pack', gitHttp.serveFetch),
      options,
    ),
    route(
      'POST',
      `${repository}/git-receive-pack`,
      push,
      rpc(deps, 'git-receive-pack', gitHttp.takePush),
      options,
    ),
  ]
}

const services = ['git-upload-pack', 'git-receive-pack'] as const satisfies GitService[]

/** The first request of every clone, fetch and push. */
const infoRefs = (transferIdleMs: number) =>
  endpoint({
    input: z.object({ service: z.enum(services) }),
    async handle({ service }, access: ProjectCall, call) {
      const { response } = call.raw
      await gitHttp.inStream(transferIdleMs, access, call, (client) => {
        response.set({
          'Content-Type': `application/x-${service}-advertisement`,
          'Cache-Control': 'no-cache',
        })
        return gitHttp.advertiseReferences(access, { client, output: response }, service)
      })
      return answered
    },
  })

/** One request of a fetch, or a push. */
const rpc = (deps: GitHttpDependencies, service: GitService, serve: ServeExchange) =>
  endpoint({
    input: z.object({}),
    async handle(_input, access: ProjectCall, call) {
      const { request, response } = call.raw
      const input = gitHttp.requestBody(call.raw, service)
      try {
        await gitHttp.inStream(deps.transferIdleMs, access, call, (client) => {
          response.set({ 'Content-Type': `application/x-${service}-result`, 'Cache-Control': 'no-cache' })
          return serve(deps, access, { client, input, output: response }, call)
        })
      } finally {
        // Bytes that git did not read would come before the next request of this connection. A client that
        // sends all of them before it reads the answer would wait for ever.
        request.unpipe().resume()
        input.destroy()
      }
      response.end()
      return answered
    },
  })
