import type { Database } from '@switchyard/db'
import type { Caller } from '@switchyard/domain/access'
import {
  endpoint,
  flag,
  ok,
  pageParameters,
  pageReply,
  type Route,
  route,
  rowId,
  rowsOf,
  signedIn,
  text,
} from '@switchyard/service-kit/http'
import { z } from 'zod'
import { optional, optionalText } from '../shapes/parameters.js'
import { namespaceShape, presentNamespace } from '../shapes/project.js'
import * as namespaces from './namespaces.js'

/** Endpoints for namespaces. Every user has one, and there are no groups. */
export const namespaceRoutes = ({ database }: { database: Database }): Route[] => [
  route('GET', '/namespaces', signedIn, listNamespaces(database)),
  route('GET', '/namespaces/:id', signedIn, getNamespace(database)),
  route('GET', '/namespaces/:path/exists', signedIn, namespaceExists(database)),
]

/** Lists namespaces. GitLab's other filters select groups, so they have no effect. */
const listNamespaces = (database: Database) =>
  endpoint({
    summary: "List namespaces: all namespaces for administrators, the caller's own for everybody else",
    replies: { 200: z.array(namespaceShape) },
    input: z.object({ ...pageParameters, search: optionalText(text()), owned_only: optional(flag()) }),
    async handle({ search, owned_only, ...page }, caller: Caller, call) {
      const viewer = owned_only ? { ...caller, user: { ...caller.user, admin: false } } : caller
      const { users, total } = await namespaces.listNamespaces(database, viewer, search, rowsOf(page))
      return pageReply(
        users.map((user) => presentNamespace(user, call.baseUrl)),
        page,
        total,
        call,
      )
    },
  })

const getNamespace = (database: Database) =>
  endpoint({
    summary: 'Get a namespace',
    replies: { 200: namespaceShape },
    input: z.object({ id: text().meta({ description: 'Id, or username' }) }),
    handle: async ({ id }, caller: Caller, call) =>
      ok(presentNamespace(await namespaces.getNamespace(database, caller, id), call.baseUrl)),
  })

const namespaceExists = (database: Database) =>
  endpoint({
    summary: 'Check whether a namespace exists',
    replies: { 200: z.object({ exists: z.boolean(), suggests: z.array(z.string()) }) },
    input: z.object({
      path: text(),
      parent_id: optional(rowId()).meta({
        description: 'Namespaces are not nested: with a parent, no name exists',
      }),
    }),
    async handle({ path, parent_id }) {
      if (parent_id !== undefined) return ok({ exists: false, suggests: [] })
      return ok(await namespaces.checkNamespace(database, path))
    },
  })
