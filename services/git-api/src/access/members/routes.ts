import type { Database } from '@switchyard/db'
import { accessLevels, type Caller } from '@switchyard/domain/access'
import {
  auditAuthor,
  created,
  endpoint,
  list,
  noContent,
  pageParameters,
  pageReply,
  parameterProblem,
  preconditionOf,
  type Route,
  route,
  rowId,
  rowsOf,
  text,
  unsupported,
  versioned,
} from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { ProjectCall, ProjectResourceDependencies } from '../../guards.js'
import { accessLevel, clearableDay, optional, optionalText } from '../../shapes/parameters.js'
import { memberShape, presentMember, presentUser, userShape } from '../../shapes/user.js'
import * as members from './members.js'

/**
 * There are no groups to inherit members from, and the owner is a member, so `members/all` is the same list.
 */
export function memberRoutes(deps: ProjectResourceDependencies): Route[] {
  const { maintain, readMembers } = deps.guards
  const path = '/projects/:id/members'
  return [
    route('POST', path, maintain, createMember(deps.database)),
    route('GET', path, readMembers, listMembers(deps.database)),
    route('GET', '/projects/:id/users', readMembers, listUsers(deps.database)),
    route('GET', `${path}/all`, readMembers, listMembers(deps.database)),
    route('GET', `${path}/all/:user_id`, readMembers, getMember(deps.database)),
    route('GET', `${path}/:user_id`, readMembers, getMember(deps.database)),
    route('PUT', `${path}/:user_id`, maintain, updateMember(deps)),
    route('DELETE', `${path}/:user_id`, maintain, deleteMember(deps)),
  ]
}

const userId = { user_id: rowId() }
const membership = {
  access_level: accessLevel(...Object.values(accessLevels)),
  expires_at: clearableDay().meta({
    description: 'The day at whose start (UTC) the membership ends',
  }),
  member_role_id: unsupported('is not supported: there are no roles of your own'),
}

const createMember = (database: Database) =>
  endpoint({
    summary: 'Add a member',
    replies: { 201: memberShape },
    refusals: [409],
    input: z.object({
      user_id: optional(rowId()).meta({ description: 'This or `username`' }),
      username: optionalText(text()).meta({ description: 'Case-insensitive; instead of `user_id`' }),
      ...membership,
    }),
    async handle(
      { access_level: accessLevel, expires_at: expiresAt = null, ...given },
      access: ProjectCall<Caller>,
      call,
    ) {
      const author = auditAuthor(access.caller, call)
      const wanted = { user: userOf(given), accessLevel, expiresAt }
      const member = await members.addMember(database, access, wanted, author)
      return created(presentMember(member, call.baseUrl))
    },
  })

function userOf({ user_id: id, username }: { user_id?: number | undefined; username?: string | undefined }) {
  if (id !== undefined && username !== undefined)
    throw parameterProblem('user_id, username', 'are mutually exclusive')
  const user = id ?? username
  if (user === undefined)
    throw parameterProblem('user_id, username', 'are missing, at least one parameter must be provided')
  return user
}

/** Ids of users: a list, or one text with commas. */
const ids = () =>
  z.preprocess((value) => (typeof value === 'string' ? value.split(',') : value), list(rowId()))

const listMembers = (database: Database) =>
  endpoint({
    summary: 'List the members of a project',
    replies: { 200: z.array(memberShape) },
    input: z.object({
      ...pageParameters,
      query: optionalText(text()).meta({
        description: 'Part of the name or the username, case-insensitive',
      }),
      user_ids: optional(ids()).meta({ description: 'Only these users' }),
      skip_users: optional(ids()).meta({ description: 'All but these users' }),
      state: unsupported('is not supported: every member is active', 'active'),
    }),
    async handle({ query: search, user_ids: only, skip_users: skipped, ...page }, access: ProjectCall, call) {
      const filter = { projectId: access.project.id, search, only, skipped }
      const found = await members.listMembers(database, filter, rowsOf(page))
      const items = found.members.map((member) => presentMember(member, call.baseUrl))
      return pageReply(items, page, found.total, call)
    },
  })

const listUsers = (database: Database) =>
  endpoint({
    summary: 'List the users who are members of a project',
    replies: { 200: z.array(userShape) },
    input: z.object({
      ...pageParameters,
      search: optionalText(text()).meta({
        description: 'Part of the name or the username, case-insensitive',
      }),
      skip_users: optional(ids()).meta({ description: 'All but these users' }),
    }),
    async handle({ search, skip_users: skipped, ...page }, access: ProjectCall, call) {
      const filter = { projectId: access.project.id, search, only: undefined, skipped }
      const found = await members.listMembers(database, filter, rowsOf(page))
      const items = found.members.map(({ user }) => presentUser(user, call.baseUrl))
      return pageReply(items, page, found.total, call)
    },
  })

const getMember = (database: Database) =>
  endpoint({
    summary: 'Get a member of a project',
    replies: { 200: memberShape },
    input: z.object(userId),
    async handle({ user_id }, access: ProjectCall, call) {
      const member = await members.getMember(database, access, user_id)
      return versioned(presentMember(member, call.baseUrl), member)
    },
  })

const updateMember = (deps: ProjectResourceDependencies) =>
  endpoint({
    summary: 'Change the role and the expiry date of a member',
    replies: { 200: memberShape },
    refusals: [412],
    input: z.object({ ...userId, ...membership }),
    async handle(
      { user_id: userId, access_level: accessLevel, expires_at: expiresAt },
      access: ProjectCall<Caller>,
      call,
    ) {
      const author = auditAuthor(access.caller, call)
      const change = { userId, accessLevel, expiresAt }
      const member = await members.changeMember(deps, access, change, author, preconditionOf(call))
      return versioned(presentMember(member, call.baseUrl), member)
    },
  })

const deleteMember = (deps: ProjectResourceDependencies) =>
  endpoint({
    summary: 'Remove a member',
    replies: { 204: null },
    refusals: [412],
    input: z.object(userId),
    async handle({ user_id }, access: ProjectCall<Caller>, call) {
      const author = auditAuthor(access.caller, call)
      await members.removeMember(deps, access, user_id, author, preconditionOf(call))
      return noContent()
    },
  })
