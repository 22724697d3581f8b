import { endpoint, ok, text } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { ProjectCall } from '../../guards.js'
import { presentSignature, signatureShape } from '../../presenters/signature.js'
import { readCommitSignature } from '../../use-cases/read-commits.js'

/** `GET /projects/:id/repository/commits/:sha/signature` */
export const getSignature = endpoint({
  summary: 'What kind of signature a commit has; no signature is verified',
  replies: { 200: signatureShape },
  input: z.object({ sha: text() }),
  async handle({ sha }, access: ProjectCall) {
    return ok(presentSignature(await readCommitSignature(access, sha)))
  },
})
