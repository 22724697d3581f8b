import { endpoint, ok, rowId } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../../dependencies.js'
import type { ProjectCall } from '../../guards.js'
import { presentProjectToken, projectTokenShape } from '../../presenters/project-token.js'
import * as tokens from '../../use-cases/project-tokens.js'

export const getProjectToken = (deps: Dependencies) =>
  endpoint({
    summary: 'One token of a project',
    replies: { 200: projectTokenShape },
    input: z.object({ token_id: rowId() }),
    handle: async ({ token_id }, access: ProjectCall) =>
      ok(presentProjectToken(await tokens.getProjectToken(deps, access, token_id))),
  })
