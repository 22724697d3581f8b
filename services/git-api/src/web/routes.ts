import { notFound } from '@switchyard/domain'
import { mayBeUsername } from '@switchyard/domain/access'
import { anyone, endpoint, type Route, requestedUrl, route, streamed } from '@switchyard/service-kit/http'
import { z } from 'zod'
import { projectPathOf } from '../guards.js'
import { projectPage } from './web.js'

/** Answers `go get`, which asks at the address of a project or of a folder in it. */
export function goGetRoutes(): Route[] {
  const forGo = { outsideApi: true, only: isGoGet }
  return [
    route('GET', projectPage, anyone, goGet, forGo),
    route('GET', `${projectPage}/*rest`, anyone, goGet, forGo),
  ]
}

const isGoGet: Route['only'] = ({ query }) => query['go-get'] === '1'

/**
 * Says to Go where the repository of a module is, which may be in a folder of it. The answer is the same for every caller and
 * project, so nobody learns from it whether a project exists.
 */
const goGet = endpoint({
  input: z.object({ namespace: z.string(), project: z.string() }),
  async handle(given, _access: unknown, { baseUrl, raw: { request, response } }) {
    const path = projectPathOf(given)
    if (!mayBeUsername(given.namespace) || !/^[\w.-]+\/[\w.-]+$/.test(path)) throw notFound()
    // Go takes the line whose first word is the address that it asked.
    const hosts = new Set(
      [baseUrl, requestedUrl(request)].filter((url) => URL.canParse(url)).map((url) => new URL(url).host),
    )
    const lines = [...hosts].map(
      (host) => `<meta name="go-import" content="${host}/${path} git ${baseUrl}/${path}.git">`,
    )
    response
      .type('html')
      .set('Cache-Control', 'no-cache')
      .send(`<html><head>${lines.join('')}</head></html>\n`)
    return streamed
  },
})
