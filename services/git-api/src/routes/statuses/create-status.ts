import type { Caller } from '@switchyard/domain/access'
import { postedStates } from '@switchyard/domain/commit-status'
import { created, decimal, endpoint, text } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../../dependencies.js'
import type { ProjectCall } from '../../guards.js'
import { commitStatusShape, presentCommitStatus } from '../../presenters/commit-status.js'
import { recordStatus } from '../../use-cases/record-status.js'
import { optional, optionalText } from '../optional.js'

const input = z.object({
  sha: text(),
  state: z.enum(postedStates),
  ref: optionalText(text()),
  name: optionalText(text()),
  context: optionalText(text()),
  target_url: optionalText(text()),
  description: optionalText(text()),
  coverage: optional(decimal()),
})

export const createStatus = (deps: Dependencies) =>
  endpoint({
    summary: 'Say how a build or a check of a commit is doing',
    replies: { 201: commitStatusShape },
    refusals: [409],
    input,
    async handle(body, access: ProjectCall<Caller>, call) {
      const status = await recordStatus(
        deps,
        access,
        {
          revision: body.sha,
          state: body.state,
          ref: body.ref,
          name: body.name ?? body.context ?? 'default',
          targetUrl: body.target_url,
          description: body.description,
          coverage: body.coverage,
        },
        call,
      )
      return created(presentCommitStatus(status, call.baseUrl))
    },
  })
