import type { SavedView } from '@switchyard/db'
import { z } from 'zod'

export const savedViewShape = z
  .object({
    id: z.int(),
    name: z.string(),
    page: z.string(),
    query: z.string(),
    created_at: z.date(),
    updated_at: z.date(),
  })
  .meta({ id: 'SavedView', description: 'A search that a user of the console has saved' })

export const presentSavedView = (view: SavedView): z.output<typeof savedViewShape> => ({
  id: view.id,
  name: view.name,
  page: view.page,
  query: view.query,
  created_at: view.createdAt,
  updated_at: view.updatedAt,
})
