import type { Database, Project, RepositoryStorageMove } from '@switchyard/db'
import type { Caller } from '@switchyard/domain/access'
import {
  administrator,
  auditAuthor,
  created,
  documented,
  endpoint,
  filledText,
  type Guard,
  ok,
  oneOf,
  pageParameters,
  pageReply,
  type Route,
  route,
  rowId,
  rowsOf,
} from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { ProjectCall, ProjectGuards, ProjectResourceDependencies } from '../guards.js'
import type { Storages } from './storages.js'
import * as storages from './storages.js'

const states = ['scheduled', 'started', 'finished', 'failed'] as const

const storageMoveShape = z
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

const presentStorageMove = (
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

interface StorageMoveDependencies extends ProjectResourceDependencies {
  storages: Storages
}

/** Moves of a project's repository between storages, in GitLab's shapes. */
export function storageMoveRoutes(deps: StorageMoveDependencies): Route[] {
  const { database } = deps
  const guard = administeredProject(deps.guards)
  const path = '/projects/:id/repository_storage_moves'
  return [
    route('POST', path, guard, createMove(deps)),
    route('GET', path, guard, listMoves(database)),
    route('GET', `${path}/:repository_storage_id`, guard, getMove(database)),
  ]
}

/** Returns a guard that admits administrators to every project. */
function administeredProject(guards: ProjectGuards): Guard<ProjectCall<Caller>> {
  const documents = {
    ...administrator.documents,
    parameters: { id: 'The id of the project, or its full path' },
  }
  return documented(documents, async (call) => {
    await administrator(call)
    return (await guards.authorizeProject(call, 'read_project')) as ProjectCall<Caller>
  })
}

const createMove = (deps: StorageMoveDependencies) =>
  endpoint({
    summary: 'Start to move the repository of a project to another storage',
    replies: { 201: storageMoveShape },
    refusals: [409],
    input: z.object({
      destination_storage_name: filledText().meta({ description: 'A configured storage' }),
    }),
    async handle({ destination_storage_name }, access: ProjectCall<Caller>, call) {
      const author = auditAuthor(access.caller, call)
      const move = await storages.requestMove(deps, access.project, destination_storage_name, author)
      return created(presentStorageMove(move, access.project))
    },
  })

const listMoves = (database: Database) =>
  endpoint({
    summary: 'List the repository storage moves of a project, newest first',
    replies: { 200: z.array(storageMoveShape) },
    input: z.object(pageParameters),
    async handle(page, access: ProjectCall<Caller>, call) {
      const found = await storages.listRepositoryMoves(database, access.project.id, rowsOf(page))
      const shown = found.moves.map((move) => presentStorageMove(move, access.project))
      return pageReply(shown, page, found.total, call)
    },
  })

const getMove = (database: Database) =>
  endpoint({
    summary: 'Get a repository storage move of a project',
    replies: { 200: storageMoveShape },
    input: z.object({ repository_storage_id: rowId() }),
    handle: async ({ repository_storage_id }, access: ProjectCall<Caller>) =>
      ok(
        presentStorageMove(
          await storages.getMove(database, access.project, repository_storage_id),
          access.project,
        ),
      ),
  })
