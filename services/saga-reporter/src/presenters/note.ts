import type { SagaNote } from '@switchyard/db'
import { z } from 'zod'

export const noteShape = z
  .object({
    id: z.int(),
    author: z.object({ id: z.int(), username: z.string() }),
    body: z.string(),
    created_at: z.date(),
  })
  .meta({ id: 'SagaNote', description: 'What an operator wrote about a saga' })

export const presentNote = ({
  id,
  authorId,
  authorName,
  body,
  createdAt,
}: SagaNote): z.output<typeof noteShape> => ({
  id,
  author: { id: authorId, username: authorName },
  body,
  created_at: createdAt,
})
