import type { SagaNote } from '@switchyard/db'

export const presentNote = ({ id, authorId, authorName, body, createdAt }: SagaNote) => ({
  id,
  author: { id: authorId, username: authorName },
  body,
  created_at: createdAt,
})
