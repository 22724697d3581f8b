import type { Caller } from '@switchyard/domain/access'
import { endpoint, noContent, text, unmodifiedSinceMs } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../../dependencies.js'
import type { ProjectCall } from '../../guards.js'
import { deleteTag } from '../../use-cases/tags.js'

/** `DELETE /projects/:id/repository/tags/:tag_name` */
export const deleteTagEndpoint = (deps: Dependencies) =>
  endpoint({
    summary: 'Delete a tag',
    replies: { 204: null },
    refusals: [409, 412],
    input: z.object({ tag_name: text() }),
    async handle({ tag_name }, access: ProjectCall<Caller>, call) {
      await deleteTag(deps, access, tag_name, unmodifiedSinceMs(call), call)
      return noContent()
    },
  })
