import type { GitService } from '@switchyard/git-storage'
import { endpoint, streamed } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../../dependencies.js'
import type { ProjectCall } from '../../guards.js'
import { advertiseReferences } from '../../use-cases/git-exchanges.js'
import { inSession } from './session.js'

const services = ['git-upload-pack', 'git-receive-pack'] as const satisfies GitService[]

/** The first request of every clone, fetch and push. */
export const infoRefs = ({ gitSessions }: Dependencies) =>
  endpoint({
    input: z.object({ service: z.enum(services) }),
    async handle({ service }, access: ProjectCall, call) {
      const { response } = call.raw
      await inSession(gitSessions, access, call, (client) => {
        response.set({
          'Content-Type': `application/x-${service}-advertisement`,
          'Cache-Control': 'no-cache',
        })
        return advertiseReferences(access, { client, output: response }, service)
      })
      return streamed
    },
  })
