import { advertiseRefs, gitServices } from '@switchyard/git-storage'
import { endpoint, streamed } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../../dependencies.js'
import type { ProjectCall } from '../../guards.js'

/** The first question of every clone, fetch and push. */
export const infoRefs = ({ git }: Pick<Dependencies, 'git'>) =>
  endpoint({
    input: z.object({ service: z.enum(gitServices) }),
    async handle({ service }, { project }: ProjectCall, { raw, signal }) {
      const { path } = git.open(project)
      raw.response.set({
        'Content-Type': `application/x-${service}-advertisement`,
        'Cache-Control': 'no-cache',
      })
      await advertiseRefs({ path, service, protocol: raw.request.get('Git-Protocol'), signal }, raw.response)
      return streamed
    },
  })
