import type { GitService } from '@switchyard/git-storage/git-http'
import { answered, endpoint, type Route, route } from '@switchyard/service-kit/http'
import { z } from 'zod'
import { createGitGuards, type ProjectCall } from '../../guards.js'
import {
  advertiseReferences,
  type GitHttpDependencies,
  inStream,
  requestBody,
  type ServeExchange,
  serveFetch,
  takePush,
} from './git-http.js'

/** git's smart HTTP protocol: clone, fetch, push. The path of the project may end in `.git`. */
export function gitHttpRoutes(deps: GitHttpDependencies): Route[] {
  const { fetchOrPush, fetch, push } = createGitGuards(deps.guards)
  const repository = '/:namespace/:project'
  const options = { outsideApi: true, basicAuthentication: true, streamsBody: true, longLived: true }
  return [
    route('GET', `${repository}/info/refs`, fetchOrPush, infoRefs(deps.transferIdleMs), options),
    route('POST', `${repository}/git-upload-pack`, fetch, rpc(deps, 'git-upload-pack', serveFetch), options),
    route('POST', `${repository}/git-receive-pack`, push, rpc(deps, 'git-receive-pack', takePush), options),
  ]
}

const services = ['git-upload-pack', 'git-receive-pack'] as const satisfies GitService[]

/** The first request of every clone, fetch and push. */
const infoRefs = (transferIdleMs: number) =>
  endpoint({
    input: z.object({ service: z.enum(services) }),
    async handle({ service }, access: ProjectCall, call) {
      const { response } = call.raw
      await inStream(transferIdleMs, access, call, (client) => {
        response.set({
          'Content-Type': `application/x-${service}-advertisement`,
          'Cache-Control': 'no-cache',
        })
        return advertiseReferences(access, { client, output: response }, service)
      })
      return answered
    },
  })

/** One exchange of a fetch, or a push. */
const rpc = (deps: GitHttpDependencies, service: GitService, serve: ServeExchange) =>
  endpoint({
    input: z.object({}),
    async handle(_input, access: ProjectCall, call) {
      const { request, response } = call.raw
      const input = requestBody(call.raw, service)
      try {
        await inStream(deps.transferIdleMs, access, call, (client) => {
          response.set({ 'Content-Type': `application/x-${service}-result`, 'Cache-Control': 'no-cache' })
          return serve(deps, access, { client, input, output: response }, call)
        })
      } finally {
        // Bytes that git did not read would precede the next request of this connection. And a client that
        // sends all of them before it reads an answer would wait for ever.
        request.unpipe().resume()
        input.destroy()
      }
      response.end()
      return answered
    },
  })
