import type { Database } from '@switchyard/db'
import { excerpt, invalid, invalidParameters } from '@switchyard/domain'
import type { Caller } from '@switchyard/domain/access'
import { releaseLinksMax } from '@switchyard/domain/release'
import {
  type Call,
  created,
  endpoint,
  filledText,
  linkParameters,
  list,
  ok,
  pageParameters,
  pageReply,
  parameterProblem,
  preconditionOf,
  proseCharsMax,
  type Route,
  redirect,
  route,
  rowsOf,
  text,
  time,
  unsupported,
  versioned,
} from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { ProjectCall } from '../../guards.js'
import type { ReferenceDependencies } from '../../repository/references/references.js'
import { optional, optionalText, pathRest } from '../../shapes/parameters.js'
import { type ReleaseLinkDependencies, releaseLinkRoutes } from './link-routes.js'
import * as ownFiles from './own-files.js'
import { presentRelease, releaseLinkParameters, releaseShape, toLinkFields } from './present.js'
import * as releaseCreation from './release-creation.js'
import type { ReleaseDependencies, ReleaseView } from './releases.js'
import * as releases from './releases.js'

export function releaseRoutes(deps: ReferenceDependencies & ReleaseLinkDependencies): Route[] {
  const { readProject, pushCode } = deps.guards
  const path = '/projects/:id/releases'
  const one = `${path}/:tag_name`
  const latest = redirectToLatest(deps.database)
  return [
    route('GET', path, readProject, listReleases(deps.database)),
    route('POST', path, pushCode, createRelease(deps)),
    route('GET', `${path}/permalink/latest`, readProject, latest),
    route('GET', `${path}/permalink/latest/*rest`, readProject, latest),
    route('GET', one, readProject, getRelease(deps.database)),
    route('PUT', one, pushCode, updateRelease(deps)),
    route('DELETE', one, pushCode, deleteRelease(deps)),
    ...releaseLinkRoutes(deps),
  ]
}

const htmlDescription = {
  include_html_description: unsupported('is not supported: descriptions are Markdown', 'false', '0'),
}

/** Returns releases with the sizes and hashes of their files. */
async function present(
  database: Database,
  access: ProjectCall,
  found: readonly ReleaseView[],
  call: Call,
): Promise<z.output<typeof releaseShape>[]> {
  const urls = found.flatMap(({ release }) => release.links.map(({ url }) => url))
  const files = await ownFiles.findOwnObjects(database, access, urls, call)
  return found.map((each) => presentRelease(each, access.project, call.baseUrl, files))
}

async function presentOne(database: Database, access: ProjectCall, found: ReleaseView, call: Call) {
  const [release] = await present(database, access, [found], call)
  return release as z.output<typeof releaseShape>
}

const listReleases = (database: Database) =>
  endpoint({
    summary: 'List releases, newest first',
    replies: { 200: z.array(releaseShape) },
    input: z.object({
      ...pageParameters,
      order_by: z.enum(['released_at', 'created_at']).default('released_at'),
      sort: z.enum(['desc', 'asc']).default('desc'),
      updated_before: optional(time()),
      updated_after: optional(time()),
      ...htmlDescription,
    }),
    async handle({ order_by, sort, updated_before, updated_after, ...page }, access: ProjectCall, call) {
      const query = {
        order: order_by === 'created_at' ? ('createdAt' as const) : ('releasedAt' as const),
        descending: sort === 'desc',
        updatedBefore: updated_before,
        updatedAfter: updated_after,
      }
      const found = await releases.listReleases(database, access, query, rowsOf(page))
      const items = await present(database, access, found.releases, call)
      return pageReply(items, page, found.total, call)
    },
  })

const getRelease = (database: Database) =>
  endpoint({
    summary: 'Get the release of a tag',
    replies: { 200: releaseShape },
    input: z.object({ tag_name: text(), ...htmlDescription }),
    async handle({ tag_name }, access: ProjectCall, call) {
      const found = await releases.getRelease(database, access, tag_name)
      return versioned(await presentOne(database, access, found, call), found.release)
    },
  })

/** Longest address of a redirect, because proxies and clients refuse longer headers. */
const locationLengthMax = 8 * 1024

/** `GET /projects/:id/releases/permalink/latest`, and any path below it, redirects to the newest release. */
const redirectToLatest = (database: Database) =>
  endpoint({
    summary: 'Redirect to the newest release',
    replies: { 302: null },
    headers: { Location: 'The URL of the newest release, or of a resource below it' },
    input: z.object({ ...pageParameters, ...htmlDescription, rest: pathRest().optional() }),
    async handle({ rest = '' }, access: ProjectCall, call) {
      const tag = await releases.getLatestTag(database, access)
      const { parameters } = linkParameters(call)
      const query = String(parameters)
      const path = `/api/v4/projects/${access.project.id}/releases/${encodeURIComponent(tag)}`
      const below = rest.split('/').map(encodeURIComponent).join('/')
      const location = `${path}${below && `/${below}`}${query && `?${query}`}`
      if (location.length > locationLengthMax) throw invalidParameters(['rest is too long'])
      return redirect(location)
    },
  })

const milestones = { milestones: z.unknown().optional(), milestone_ids: z.unknown().optional() }

/** Refuses a request that names a milestone, because there are none here and its client would rely on it. */
function refuseMilestones(given: { milestones?: unknown; milestone_ids?: unknown }): void {
  const named = [given.milestones ?? [], given.milestone_ids ?? []].flat().map(String).filter(Boolean)
  if (named.length === 0) return
  throw invalid(`Milestone(s) not found: ${excerpt(named.slice(0, 20).join(', '))}`)
}

const createRelease = (deps: ReferenceDependencies) =>
  endpoint({
    summary: 'Create a release of a tag; with `ref`, a missing tag is created',
    replies: { 201: releaseShape },
    refusals: [409, 422],
    input: z.object({
      tag_name: filledText(),
      tag_message: optional(text(proseCharsMax)),
      ref: optionalText(text()),
      name: optionalText(text()),
      description: optional(text(proseCharsMax)),
      released_at: optional(time()),
      assets: optional(z.object({ links: optional(list(z.object(releaseLinkParameters), releaseLinksMax)) })),
      ...milestones,
    }),
    async handle(given, access: ProjectCall<Caller>, call) {
      refuseMilestones(given)
      const command = {
        tag: given.tag_name,
        tagMessage: given.tag_message ?? '',
        start: given.ref,
        name: given.name,
        description: given.description,
        releasedAt: given.released_at,
        links: (given.assets?.links ?? []).map(toLinkFields),
      }
      const release = await releaseCreation.createRelease(deps, access, command, call)
      return created(await presentOne(deps.database, access, release, call))
    },
  })

const updateRelease = (deps: ReleaseDependencies) =>
  endpoint({
    summary: 'Change the release of a tag',
    replies: { 200: releaseShape },
    refusals: [412],
    input: z.object({
      tag_name: text(),
      name: optionalText(text()),
      description: optional(text(proseCharsMax)),
      released_at: optional(time()),
      ...milestones,
    }),
    async handle(given, access: ProjectCall<Caller>, call) {
      const { tag_name, name, description, released_at } = given
      refuseMilestones(given)
      const changes = { name, description, releasedAt: released_at }
      if (Object.values(changes).every((value) => value === undefined)) {
        throw parameterProblem(
          'name, description, released_at',
          'are missing, at least one parameter must be provided',
        )
      }
      const change = { tag: tag_name, changes, precondition: preconditionOf(call) }
      const changed = await releases.changeRelease(deps, access, change, call)
      return versioned(await presentOne(deps.database, access, changed, call), changed.release)
    },
  })

const deleteRelease = (deps: ReleaseDependencies) =>
  endpoint({
    summary: 'Delete the release of a tag; the tag is kept',
    replies: { 200: releaseShape },
    refusals: [412],
    input: z.object({ tag_name: text() }),
    async handle({ tag_name }, access: ProjectCall<Caller>, call) {
      const named = { tag: tag_name, precondition: preconditionOf(call) }
      const release = await releases.removeRelease(deps, access, named, call)
      return ok(await presentOne(deps.database, access, release, call))
    },
  })
