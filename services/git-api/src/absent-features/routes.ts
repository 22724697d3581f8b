import { forbidden, notFound } from '@switchyard/domain'
import {
  anyone,
  endpoint,
  type Guard,
  ok,
  pageParameters,
  pageReply,
  type Route,
  route,
  signedIn,
  text,
} from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { ProjectGuards } from '../guards.js'

interface AbsentFeature {
  path: string
  /** Plural name of the things that do not exist here, such as `epics`. */
  things: string
  /** The reason, as the end of a sentence. */
  because: string
  readers: Guard<unknown>
  /** Guard of requests that add something. Everybody signed in who sees the list may read the reason. */
  writers: Guard<unknown>
}

const inForge = 'they belong to the forge beside it'

const groups = { things: 'groups', because: 'every project belongs to a user' }

/** Serves features that only GitLab has: their lists are empty, and requests to add something are refused. */
export const absentFeatureRoutes = ({ guards }: { guards: ProjectGuards }): Route[] => {
  const { readProject, readMembers, readPipelines, maintain } = guards
  const ofProject = { readers: readProject, writers: readMembers }
  const ofMaintainers = { readers: maintain, writers: maintain }
  const ofUser = { readers: signedIn, writers: signedIn }
  const absent: AbsentFeature[] = [
    { path: '/projects/:id/merge_requests', things: 'merge requests', because: inForge, ...ofProject },
    { path: '/projects/:id/issues', things: 'issues', because: inForge, ...ofProject },
    { path: '/projects/:id/labels', things: 'labels', because: inForge, ...ofProject },
    { path: '/projects/:id/milestones', things: 'milestones', because: inForge, ...ofProject },
    {
      path: '/projects/:id/variables',
      things: 'variables of CI',
      because: 'they belong to the CI system beside it',
      ...ofMaintainers,
    },
    {
      path: '/projects/:id/deploy_keys',
      things: 'deploy keys',
      because: 'there is no SSH, and deploy tokens fetch over HTTP',
      ...ofMaintainers,
    },
    { path: '/merge_requests', things: 'merge requests', because: inForge, ...ofUser },
    { path: '/issues', things: 'issues', because: inForge, ...ofUser },
    { path: '/groups', ...groups, readers: anyone, writers: signedIn },
  ]
  return [
    ...absent.flatMap((each) => [
      route('GET', each.path, each.readers, emptyList(each.things)),
      route('POST', each.path, each.writers, refusal(each)),
    ]),
    route('GET', '/events', signedIn, emptyList('events of users')),
    route('GET', '/projects/:id/events', readProject, emptyList('events of projects')),
    route('GET', '/projects/:id/languages', readPipelines, getLanguages),
    route('GET', '/groups/:id', anyone, getGroup),
    route('GET', '/groups/:id/projects', anyone, emptyList('projects of groups', groupParameters)),
  ]
}

const groupParameters = { id: text().meta({ description: 'Any id or path; there are no groups' }) }

/** @param parameters path parameters that no guard reads */
const emptyList = (things: string, parameters: z.ZodRawShape = {}) =>
  endpoint({
    summary: `List ${things}: always empty`,
    replies: { 200: z.array(z.never()) },
    input: z.object({ ...pageParameters, ...parameters }),
    handle: async (page, _access: unknown, call) => pageReply([], page, 0, call),
  })

const refusal = ({ things, because }: AbsentFeature) =>
  endpoint({
    summary: `Create ${things}: always refused`,
    replies: {},
    refusals: [403],
    input: z.object({}),
    handle: async () => {
      throw forbidden(`Switchyard has no ${things}: ${because}`)
    },
  })

const getGroup = endpoint({
  summary: 'Get a group: always not found',
  replies: {},
  refusals: [404],
  input: z.object(groupParameters),
  handle: async () => {
    throw notFound('Group')
  },
})

const getLanguages = endpoint({
  summary: 'Get the languages of a project: always empty',
  replies: { 200: z.object({}) },
  input: z.object({}),
  handle: async () => ok({}),
})
