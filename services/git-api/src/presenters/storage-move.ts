import type { Project, RepositoryStorageMove } from '@switchyard/db'
import { oneOf } from '@switchyard/service-kit/http'
import { z } from 'zod'

const states = ['scheduled', 'started', 'finished', 'failed'] as const

export const storageMoveShape = z
  .object({
    id: z.int(),
    created_at: z.date(),
    state: oneOf(states),
    source_storage_name: z.string(),
    destination_storage_name: z.string(),
    error_message: z.string().nullable().meta({ description: 'Why the move failed' }),
    project: z.object({
      id: z.int(),
      description: z.string().nullable(),
      name: z.string(),
      path: z.string(),
      path_with_namespace: z.string(),
      created_at: z.date(),
    }),
  })
  .meta({ id: 'RepositoryStorageMove', description: 'A move of a repository to another storage' })

export const presentStorageMove = (
  move: RepositoryStorageMove,
  project: Project,
): z.output<typeof storageMoveShape> => ({
  id: move.id,
  created_at: move.createdAt,
  state: move.state,
  source_storage_name: move.source,
  destination_storage_name: move.destination,
  error_message: move.error,
  project: {
    id: project.id,
    description: project.description,
    name: project.name,
    path: project.path,
    path_with_namespace: project.pathWithNamespace,
    created_at: project.createdAt,
  },
})
