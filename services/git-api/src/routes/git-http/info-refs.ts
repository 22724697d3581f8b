import { advertiseRefs, gitServices } from '@switchyard/git-storage'
import { endpoint, streamed } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../../dependencies.js'
import type { ProjectCall } from '../../guards.js'
import { senderOf, sessionOf } from './session.js'

/** The first question of every clone, fetch and push. */
export const infoRefs = ({ git, gitSessions }: Pick<Dependencies, 'git' | 'gitSessions'>) =>
  endpoint({
    input: z.object({ service: z.enum(gitServices) }),
    async handle({ service }, { project, caller }: ProjectCall, call) {
      const { response } = call.raw
      const session = sessionOf(git.open(project).path, gitSessions.idleMs, call)
      await gitSessions.run(senderOf(caller, call), call.signal, () => {
        response.set({
          'Content-Type': `application/x-${service}-advertisement`,
          'Cache-Control': 'no-cache',
        })
        return advertiseRefs(session, service, response)
      })
      return streamed
    },
  })
