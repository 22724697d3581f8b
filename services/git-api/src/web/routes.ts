import { notFound } from '@switchyard/domain'
import { mayBeUsername } from '@switchyard/domain/access'
import {
  answered,
  anyone,
  endpoint,
  prefersHtml,
  type Reply,
  type Route,
  redirect,
  requestedUrl,
  route,
  text,
} from '@switchyard/service-kit/http'
import { z } from 'zod'
import { projectPathOf } from '../guards.js'
import { consolePageOf, consolePageOfUser } from './console-pages.js'
import { projectPage } from './web.js'

/** Answers `go get`, which requests the address of a project or of a folder in it. */
export function goGetRoutes(): Route[] {
  const forGo = { outsideApi: true, only: isGoGet }
  return [
    route('GET', projectPage, anyone, goGet, forGo),
    route('GET', `${projectPage}/*rest`, anyone, goGet, forGo),
  ]
}

const isGoGet: Route['only'] = ({ query }) => query['go-get'] === '1'

/**
 * Tells Go the repository of a module, which may be a folder of it. The answer is the same for every caller
 * and project, so nobody learns from it whether a project exists.
 */
const goGet = endpoint({
  input: z.object({ namespace: z.string(), project: z.string() }),
  async handle(given, _access: unknown, { baseUrl, raw: { request, response } }) {
    const path = projectPathOf(given)
    if (!mayBeUsername(given.namespace) || !/^[\w.-]+\/[\w.-]+$/.test(path)) throw notFound()
    // Go uses the line whose first word is the requested address.
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
    return answered
  },
})

/**
 * Redirects browsers from the `web_url` addresses in answers to the console. The redirects are the same for
 * every caller, so nobody learns from them whether a project exists.
 */
export const consolePageRoutes = (): Route[] => [
  route('GET', '/', anyone, toOverview, browserOptions),
  route('GET', '/:namespace', anyone, toProjectsOfUser, browserOptions),
  route('GET', projectPage, anyone, toProject, browserOptions),
  route('GET', `${projectPage}/-/*rest`, anyone, toPageOfProject, browserOptions),
]

const browserOptions = { outsideApi: true, only: prefersHtml }

const toConsole = (page: string): Reply => redirect(page, { Vary: 'Accept' })

const toOverview = endpoint({
  input: z.object({}),
  handle: async () => toConsole('/console/'),
})

const toProjectsOfUser = endpoint({
  input: z.object({ namespace: text() }),
  handle: async ({ namespace }) => toConsole(consolePageOfUser(usernameOf(namespace))),
})

const projectInput = { namespace: text(), project: text() }

const toProject = endpoint({
  input: z.object(projectInput),
  handle: async (given) => toConsole(consolePageOf(consolePathOf(given))),
})

const toPageOfProject = endpoint({
  input: z.object({ ...projectInput, rest: z.array(text()) }),
  handle: async ({ rest, ...given }) => toConsole(consolePageOf(consolePathOf(given), rest)),
})

const consolePathOf = ({ namespace, project }: { namespace: string; project: string }) => [
  usernameOf(namespace),
  project.replace(/\.git$/, ''),
]

/** @throws DomainError not-found for a first part of an address that no user can have, such as `api` */
function usernameOf(namespace: string): string {
  if (!mayBeUsername(namespace)) throw notFound()
  return namespace
}
