import type { Pooled } from '@switchyard/db'
import type { Caller } from '@switchyard/domain/access'
import {
  administrator,
  auditAuthor,
  created,
  endpoint,
  ok,
  type Route,
  text,
} from '@switchyard/service-kit/http'
import { z } from 'zod'
import { sagaUrl } from '../shapes/activity.js'
import { noteText, tenantParameter } from '../shapes/parameters.js'
import { noteShape, presentNote, presentSagaDetail, sagaDetailShape } from '../shapes/saga.js'
import { tenantRoute } from '../tenants.js'
import type { ResolveDependencies } from './resolve.js'
import * as resolve from './resolve.js'

/** Endpoints for operators who handle one saga. */
export const resolveRoutes = (deps: ResolveDependencies): Route[] => [
  tenantRoute('POST', '/sagas/:id/notes', administrator, createNote(deps.database)),
  tenantRoute('POST', '/sagas/:id/resolve', administrator, resolveSaga(deps)),
]

const createNote = (database: Pooled) =>
  endpoint({
    summary: 'Create a note about a saga',
    replies: { 201: noteShape },
    input: z.object({ id: text(), ...tenantParameter, body: noteText() }),
    handle: async ({ id, tenant, body }, caller: Caller, call) => {
      const note = { authorId: caller.user.id, authorName: caller.user.username, body }
      const audit = auditAuthor(caller, call)
      return created(presentNote(await resolve.writeNote(database, { tenant, sagaId: id }, note, audit)))
    },
  })

const resolveSaga = (deps: ResolveDependencies) =>
  endpoint({
    summary: 'Mark a saga as resolved',
    replies: { 200: sagaDetailShape },
    refusals: [409],
    input: z.object({ id: text(), ...tenantParameter, note: noteText() }),
    handle: async ({ id, tenant, note }, caller: Caller, call) => {
      const key = { tenant, sagaId: id }
      const author = caller.user.username
      const resolution = { ...key, author, note, audit: auditAuthor(caller, call) }
      const detail = await resolve.resolveSaga(deps, resolution)
      return ok(presentSagaDetail(detail, sagaUrl(call, key)))
    },
  })
