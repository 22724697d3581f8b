import type { SavedView } from '@switchyard/db'
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
import type { Dependencies } from '../dependencies.js'
import * as views from './saved-views.js'

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

/** Every caller reads and changes only the views of their own user. */
export const savedViewRoutes = (deps: Dependencies): Route[] =>
  refusingUnknown([
    route('GET', '/saved_views', signedIn, listSavedViews(deps)),
    route('POST', '/saved_views', signedIn, createSavedView(deps)),
    route('GET', '/saved_views/:id', signedIn, getSavedView(deps)),
    route('PUT', '/saved_views/:id', signedIn, updateSavedView(deps)),
    route('DELETE', '/saved_views/:id', signedIn, deleteSavedView(deps)),
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

const listSavedViews = (deps: Dependencies) =>
  endpoint({
    summary: "The caller's saved views, by name",
    replies: { 200: z.array(savedViewShape) },
    input: z.object({ page: pageName().optional() }),
    handle: async ({ page }, { user }: Caller) =>
      ok((await views.listSavedViews(deps, user.id, page)).map(presentSavedView)),
  })

const createSavedView = (deps: Dependencies) =>
  endpoint({
    summary: 'Save a view',
    replies: { 201: savedViewShape },
    refusals: [409],
    input: z.object(fields),
    handle: async (given, { user }: Caller) =>
      created(presentSavedView(await views.saveView(deps, user.id, given))),
  })

const getSavedView = (deps: Dependencies) =>
  endpoint({
    summary: 'One saved view',
    replies: { 200: savedViewShape },
    input: z.object({ id: rowId() }),
    async handle({ id }, { user }: Caller) {
      const view = await views.getSavedView(deps, user.id, id)
      return versioned(presentSavedView(view), view)
    },
  })

const updateSavedView = (deps: Dependencies) =>
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
      const view = await views.changeSavedView(deps, user.id, id, given, preconditionOf(call))
      return versioned(presentSavedView(view), view)
    },
  })

const deleteSavedView = (deps: Dependencies) =>
  endpoint({
    summary: 'Delete a saved view',
    replies: { 204: null },
    input: z.object({ id: rowId() }),
    async handle({ id }, { user }: Caller) {
      await views.removeSavedView(deps, user.id, id)
      return noContent()
    },
  })
