import type { Database, User } from '@switchyard/db'
import { type Caller, requireAdministrator } from '@switchyard/domain/access'
import {
  administrator,
  auditAuthor,
  created,
  documented,
  endpoint,
  filledText,
  flag,
  type Guard,
  noContent,
  ok,
  pageParameters,
  pageReply,
  preconditionOf,
  type Route,
  route,
  rowId,
  rowsOf,
  text,
  time,
  unsupported,
  versioned,
} from '@switchyard/service-kit/http'
import { z } from 'zod'
import { userReader } from '../../guards.js'
import { optional, optionalText } from '../../shapes/parameters.js'
import {
  refusedParameters,
  type Setting,
  type SettingValues,
  settingParameter,
} from '../../shapes/project-settings.js'
import {
  accountFields,
  presentProfile,
  presentWholeUser,
  profileFields,
  userPageShape,
  wholeUserShape,
} from '../../shapes/user.js'
import type { UserOrder, UserState } from './store.js'
import type { RemoveUserDependencies } from './user-removal.js'
import * as userRemoval from './user-removal.js'
import type { UserDependencies } from './users.js'
import * as users from './users.js'

const fields = { ...profileFields, ...accountFields }

/** Parameters of GitLab's clients for a user profile, including those that Switchyard does not support. */
const userProfileParameters: Record<string, z.ZodType<Setting['value'] | undefined>> = Object.fromEntries(
  Object.entries(fields).map(([name, { kind }]) => [
    name,
    settingParameter(kind, 'Kept and shown. Null: as at the beginning'),
  ]),
)

const refusedUserParameters = refusedParameters({
  auditor: 'there are no auditors',
  avatar: 'users have no pictures',
  extern_uid: 'users sign in with tokens',
  external: 'every user sees internal projects',
  projects_limit: 'users may have any number of projects',
  provider: 'users sign in with tokens',
  saml_provider_id: 'users sign in with tokens',
  public_email: 'addresses are shown to administrators and the user only',
})

/** Returns the profile fields among the parameters. */
const profileOf = (given: Record<string, unknown>): SettingValues =>
  Object.fromEntries(
    Object.keys(fields).flatMap((name) =>
      given[name] === undefined ? [] : [[name, given[name] as Setting['value']]],
    ),
  )

const userAdministrator: Guard<Caller> = documented(
  { who: 'administrators, also with the scope `read_user`' },
  ({ caller }) => requireAdministrator(caller, 'read_api', 'read_user'),
)

export const userRoutes = (deps: RemoveUserDependencies): Route[] => [
  route('GET', '/user', userReader, getCurrentUser(deps.database)),
  route('POST', '/users', administrator, createUser(deps.database)),
  route('GET', '/users', userAdministrator, listUsers(deps.database)),
  route('GET', '/users/:id', userReader, getUser(deps.database)),
  route('PUT', '/users/:id', administrator, updateUser(deps)),
  route('DELETE', '/users/:id', administrator, deleteUser(deps)),
  route('POST', '/users/:id/block', administrator, setUserState(deps, 'blocked')),
  route('POST', '/users/:id/unblock', administrator, setUserState(deps, 'active')),
]

const presentOne = async (database: Database, user: User, baseUrl: string) =>
  presentWholeUser(user, await users.listIdentities(database, [user]), baseUrl)

const getCurrentUser = (database: Database) =>
  endpoint({
    summary: 'Get the current user',
    replies: { 200: wholeUserShape },
    input: z.object({}),
    handle: async (_input, caller: Caller, { baseUrl }) =>
      ok(await presentOne(database, await users.getCurrentUser(database, caller), baseUrl)),
  })

const no = ['false', '0']

/** Parameters of identities at other providers. */
const identity = {
  extern_uid: unsupported('is not supported: there are no other identity providers'),
  provider: unsupported('is not supported: there are no other identity providers'),
  saml_provider_id: unsupported('is not supported: there are no other identity providers'),
}

/** Creates a user. A password in the request is ignored because users sign in with tokens. */
const createUser = (database: Database) =>
  endpoint({
    summary: 'Create a user',
    replies: { 201: wholeUserShape },
    refusals: [409],
    input: z.object({
      email: filledText(),
      username: filledText(),
      name: filledText(),
      admin: flag().default(false),
      ...userProfileParameters,
      ...refusedUserParameters,
    }),
    async handle(given, administrator: Caller, call) {
      const { email, username, name, admin } = given
      const added = { email, username, name, admin, profile: profileOf(given) }
      const user = await users.createUser(database, added, auditAuthor(administrator, call))
      return created(presentWholeUser(user, [], call.baseUrl))
    },
  })

const orderColumns = {
  id: 'id',
  name: 'name',
  username: 'username',
  created_at: 'createdAt',
} as const satisfies Record<string, UserOrder['column']>

/** Lists users, newest first unless the request names another order. */
const listUsers = (database: Database) =>
  endpoint({
    summary: 'List users',
    replies: { 200: z.array(wholeUserShape) },
    input: z.object({
      ...pageParameters,
      username: optionalText(text()),
      search: optionalText(text()),
      active: optional(flag()),
      blocked: optional(flag()),
      exclude_active: flag().default(false),
      admins: flag().default(false),
      humans: flag().default(false).meta({ description: 'Leave out the bot users of project tokens' }),
      without_project_bots: flag().default(false).meta({ description: 'Alias of `humans`' }),
      exclude_humans: flag().default(false),
      without_projects: flag().default(false),
      created_after: optional(time()),
      created_before: optional(time()),
      external: unsupported('is not supported: no user is external', ...no),
      auditors: unsupported('is not supported: there are no auditors', ...no),
      two_factor: unsupported('is not supported: users sign in with tokens', 'disabled'),
      public_email: unsupported('is not supported: addresses are not public, use search'),
      ...identity,
      order_by: optional(z.enum(Object.keys(orderColumns) as [keyof typeof orderColumns])),
      sort: optional(z.enum(['asc', 'desc'])),
    }),
    async handle(given, _administrator: Caller, call) {
      const { username, search, order_by: column = 'id', sort: direction = 'desc' } = given
      // No user is both a human and a bot.
      const isHuman = given.humans || given.without_project_bots
      const asksForNothing =
        (given.active && (given.blocked || given.exclude_active)) || (isHuman && given.exclude_humans)
      if (asksForNothing) return pageReply([], given, 0, call)
      const filter = {
        username,
        search,
        state: given.exclude_active ? 'blocked' : stateOf(given),
        admin: given.admins || undefined,
        bot: isHuman ? false : given.exclude_humans || undefined,
        withoutProjects: given.without_projects,
        createdAfter: given.created_after,
        createdBefore: given.created_before,
      } as const
      const order = { column: orderColumns[column], direction }
      const found = await users.listUsers(database, filter, order, rowsOf(given))
      const identities = await users.listIdentities(database, found.users)
      const items = found.users.map((user) =>
        presentWholeUser(
          user,
          identities.filter(({ userId }) => userId === user.id),
          call.baseUrl,
        ),
      )
      return pageReply(items, given, found.total, call)
    },
  })

/** `false` selects nothing, as with GitLab. */
function stateOf({ active, blocked }: { active?: boolean; blocked?: boolean }): UserState | undefined {
  if (active) return 'active'
  return blocked ? 'blocked' : undefined
}

/** Returns all fields for administrators and for the user, and the profile for other callers. */
const getUser = (database: Database) =>
  endpoint({
    summary: 'Get a user',
    replies: { 200: userPageShape },
    input: z.object({ id: rowId() }),
    async handle({ id }, caller: Caller, { baseUrl }) {
      const user = await users.getUser(database, id)
      const showsEverything = caller.user.admin || caller.user.id === user.id
      return versioned(
        showsEverything ? await presentOne(database, user, baseUrl) : presentProfile(user, baseUrl),
        user,
      )
    },
  })

const updateUser = (deps: UserDependencies) =>
  endpoint({
    summary: 'Change a user',
    replies: { 200: wholeUserShape },
    refusals: [409, 412],
    input: z.object({
      id: rowId(),
      email: optional(filledText()),
      username: optional(filledText()),
      name: optional(filledText()),
      admin: optional(flag()),
      ...userProfileParameters,
      ...refusedUserParameters,
    }),
    async handle(given, administrator: Caller, call) {
      const { id, email, username, name, admin } = given
      const asked = { email, username, name, admin, profile: profileOf(given) }
      const author = auditAuthor(administrator, call)
      const user = await users.changeUser(deps, id, asked, author, preconditionOf(call))
      return versioned(await presentOne(deps.database, user, call.baseUrl), user)
    },
  })

const deleteUser = (deps: RemoveUserDependencies) =>
  endpoint({
    summary: 'Delete a user and their tokens',
    replies: { 204: null },
    refusals: [409, 412],
    input: z.object({
      id: rowId(),
      hard_delete: flag().default(false).meta({
        description: '`true`: the projects of the user are deleted, too. Else a user who has some is refused',
      }),
      erase: flag().default(false).meta({
        description:
          '`true`: the audit log and sagas call the user `deleted user` with the id, without addresses. Works for a user who was deleted before, too',
      }),
    }),
    async handle({ id, hard_delete: withProjects, erase }, administrator: Caller, call) {
      const options = { withProjects, erase, precondition: preconditionOf(call) }
      await userRemoval.removeUser(deps, id, options, auditAuthor(administrator, call))
      return noContent()
    },
  })

const stateSummaries: Record<UserState, string> = {
  blocked: 'Block a user; their tokens stop working',
  active: 'Unblock a user',
}

/** Answers with `true`, as GitLab does, even when the user was in that state before. */
const setUserState = (deps: UserDependencies, state: UserState) =>
  endpoint({
    summary: stateSummaries[state],
    replies: { 201: z.literal(true) },
    input: z.object({ id: rowId() }),
    async handle({ id }, administrator: Caller, call) {
      await users.setUserState(deps, id, state, auditAuthor(administrator, call))
      return created(true)
    },
  })
