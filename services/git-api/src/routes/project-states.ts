import type { Caller } from '@switchyard/domain/access'
import { endpoint, pageParameters, pageReply, rowsOf } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../dependencies.js'
import { presentProjectState, projectStateShape } from '../presenters/project-state.js'
import * as projectStates from '../use-cases/project-states.js'

/** `GET /project_states` */
export const listProjectStates = (deps: Dependencies) =>
  endpoint({
    summary:
      'Newest pipeline and running deployments of the projects that are not archived, last active project first',
    replies: { 200: z.array(projectStateShape) },
    input: z.object(pageParameters),
    async handle(page, caller: Caller, call) {
      const { states, total } = await projectStates.listProjectStates(deps, caller, rowsOf(page))
      return pageReply(
        states.map((state) => presentProjectState(state, call.baseUrl)),
        page,
        total,
        call,
      )
    },
  })
