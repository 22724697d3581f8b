import type { Database, SavedView } from '@switchyard/db'
import type { Caller } from '@switchyard/domain/access'
import {
  created,
  endpoint,
  filledText,
  noContent,
  ok,
  preconditionOf,
  type Route,
  refusingUnknown,
  route,
  rowId,
  signedIn,
  text,
  versioned,
} from '@switchyard/service-kit/http'
import { z } from 'zod'
import * as savedViews from './saved-views.js'

const savedViewShape = z
  .object({
    id: z.int(),
    name: z.string(),
    page: z.string(),
    query: z.string(),
    created_at: z.date(),
    updated_at: z.date(),
  })
  .meta({ id: 'SavedView', description: 'A search that a user of the console has saved' })

const presentSavedView = (view: SavedView): z.output<typeof savedViewShape> => ({
  id: view.id,
  name: view.name,
  page: view.page,
  query: view.query,
  created_at: view.createdAt,
  updated_at: view.updatedAt,
})

/** Endpoints for saved views. Callers can access only the views of their own user. */
export const savedViewRoutes = ({ database }: { database: Database }): Route[] =>
  refusingUnknown([
    route('GET', '/saved_views', signedIn, listSavedViews(database)),
    route('POST', '/saved_views', signedIn, createSavedView(database)),
    route('GET', '/saved_views/:id', signedIn, getSavedView(database)),
    route('PUT', '/saved_views/:id', signedIn, updateSavedView(database)),
    route('DELETE', '/saved_views/:id', signedIn, deleteSavedView(database)),
  ])

const pageName = () =>
  text(50)
    .refine((value) => /^[a-z][a-z0-9_-]{0,49}$/.test(value), { error: 'does not have a valid value' })
    .meta({ description: 'The page of the console, e.g. `sagas` or `failures`' })

const fields = {
  name: filledText(100),
  page: pageName(),
  query: text(2000).meta({ description: "The query of the page's address, without the question mark" }),
}

const listSavedViews = (database: Database) =>
  endpoint({
    summary: "List the caller's saved views, by name",
    replies: { 200: z.array(savedViewShape) },
    input: z.object({ page: pageName().optional() }),
    handle: async ({ page }, { user }: Caller) =>
      ok((await savedViews.listSavedViews(database, user.id, page)).map(presentSavedView)),
  })

const createSavedView = (database: Database) =>
  endpoint({
    summary: 'Create a saved view',
    replies: { 201: savedViewShape },
    refusals: [409],
    input: z.object(fields),
    handle: async (given, { user }: Caller) =>
      created(presentSavedView(await savedViews.saveView(database, user.id, given))),
  })

const getSavedView = (database: Database) =>
  endpoint({
    summary: 'Get a saved view',
    replies: { 200: savedViewShape },
    input: z.object({ id: rowId() }),
    async handle({ id }, { user }: Caller) {
      const view = await savedViews.getSavedView(database, user.id, id)
      return versioned(presentSavedView(view), view)
    },
  })

const updateSavedView = (database: Database) =>
  endpoint({
    summary: 'Change a saved view',
    replies: { 200: savedViewShape },
    refusals: [409, 412],
    input: z.object({
      id: rowId(),
      name: fields.name.optional(),
      page: fields.page.optional(),
      query: fields.query.optional(),
    }),
    async handle({ id, ...given }, { user }: Caller, call) {
      const view = await savedViews.changeSavedView(database, user.id, id, given, preconditionOf(call))
      return versioned(presentSavedView(view), view)
    },
  })

const deleteSavedView = (database: Database) =>
  endpoint({
    summary: 'Delete a saved view',
    replies: { 204: null },
    refusals: [412],
    input: z.object({ id: rowId() }),
    async handle({ id }, { user }: Caller, call) {
      await savedViews.removeSavedView(database, user.id, id, preconditionOf(call))
      return noContent()
    },
  })
