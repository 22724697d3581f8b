import { notFound } from '@switchyard/domain'
import { mayBeUsername } from '@switchyard/domain/access'
import {
  anyone,
  endpoint,
  prefersHtml,
  type Reply,
  type Route,
  route,
  text,
} from '@switchyard/service-kit/http'
import { z } from 'zod'
import { consolePageOf, consolePageOfUser } from '../presenters/console-page.js'

/**
 * The addresses that answers have as `web_url` redirect browsers to the console. They are the same for every caller, so nobody
 * learns from them whether a project exists.
 */
export const consolePageRoutes = (): Route[] => [
  route('GET', '/', anyone, toOverview, pageOptions),
  route('GET', '/:namespace', anyone, toProjectsOfUser, pageOptions),
  route('GET', '/:namespace/:project', anyone, toProject, pageOptions),
  route('GET', '/:namespace/:project/-/*rest', anyone, toPageOfProject, pageOptions),
]

const pageOptions = { outsideApi: true, only: prefersHtml }

const redirect = (Location: string): Reply => ({ status: 302, headers: { Location, Vary: 'Accept' } })

const toOverview = endpoint({
  input: z.object({}),
  handle: async () => redirect('/console/'),
})

const toProjectsOfUser = endpoint({
  input: z.object({ namespace: text() }),
  handle: async ({ namespace }) => redirect(consolePageOfUser(usernameOf(namespace))),
})

const projectInput = { namespace: text(), project: text() }

const toProject = endpoint({
  input: z.object(projectInput),
  handle: async (given) => redirect(consolePageOf(projectPathOf(given))),
})

const toPageOfProject = endpoint({
  input: z.object({ ...projectInput, rest: z.array(text()) }),
  handle: async ({ rest, ...given }) => redirect(consolePageOf(projectPathOf(given), rest)),
})

const projectPathOf = ({ namespace, project }: { namespace: string; project: string }) => [
  usernameOf(namespace),
  project.replace(/\.git$/, ''),
]

/** @throws DomainError not-found for a first part of an address that no user can have, such as `api` */
function usernameOf(namespace: string): string {
  if (!mayBeUsername(namespace)) throw notFound()
  return namespace
}
