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
  pageParameters,
  pageReply,
  type Route,
  route,
  rowId,
  rowsOf,
} from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../dependencies.js'
import type { ProjectCall } from '../guards.js'
import { presentStorageMove, storageMoveShape } from '../presenters/storage-move.js'
import * as moves from '../use-cases/storage-moves.js'

/** Moves of the repository of a project between storages, in GitLab's shapes. */
export function storageMoveRoutes(deps: Dependencies): Route[] {
  const guard = administeredProject(deps)
  const path = '/projects/:id/repository_storage_moves'
  return [
    route('POST', path, guard, createMove(deps)),
    route('GET', path, guard, listMoves(deps)),
    route('GET', `${path}/:repository_storage_id`, guard, getMove(deps)),
  ]
}

/** Administrators see every project. */
function administeredProject({ guards }: Dependencies): Guard<ProjectCall<Caller>> {
  const documents = {
    ...administrator.documents,
    parameters: { id: 'The id of the project, or its full path' },
  }
  return documented(documents, async (call) => {
    await administrator(call)
    return (await guards.getProjectFor(call, 'read_project')) as ProjectCall<Caller>
  })
}

const createMove = (deps: Dependencies) =>
  endpoint({
    summary: 'Move the repository of a project to another storage; the answer comes before the move',
    replies: { 201: storageMoveShape },
    refusals: [409],
    input: z.object({
      destination_storage_name: filledText().meta({ description: 'A storage that the service knows' }),
    }),
    async handle({ destination_storage_name }, access: ProjectCall<Caller>, call) {
      const author = auditAuthor(access.caller, call)
      const move = await moves.requestMove(deps, access, destination_storage_name, author)
      return created(presentStorageMove(move, access.project))
    },
  })

const listMoves = (deps: Dependencies) =>
  endpoint({
    summary: 'The moves of the repository of a project, the newest first',
    replies: { 200: z.array(storageMoveShape) },
    input: z.object(pageParameters),
    async handle(page, access: ProjectCall<Caller>, call) {
      const found = await moves.listMoves(deps, access, rowsOf(page))
      const shown = found.moves.map((move) => presentStorageMove(move, access.project))
      return pageReply(shown, page, found.total, call)
    },
  })

const getMove = (deps: Dependencies) =>
  endpoint({
    summary: 'One move of the repository of a project',
    replies: { 200: storageMoveShape },
    input: z.object({ repository_storage_id: rowId() }),
    handle: async ({ repository_storage_id }, access: ProjectCall<Caller>) =>
      ok(presentStorageMove(await moves.getMove(deps, access, repository_storage_id), access.project)),
  })
