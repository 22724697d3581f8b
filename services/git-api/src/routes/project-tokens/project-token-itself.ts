import { forbidden } from '@switchyard/domain'
import { type Caller, requireScope } from '@switchyard/domain/access'
import { documented, type Guard } from '@switchyard/service-kit/http'
import type { Dependencies } from '../../dependencies.js'
import type { ProjectCall } from '../../guards.js'

/** A token of the project that `:id` names, with any role, and with a scope that lets it replace itself. */
export const projectTokenItself = ({ guards }: Pick<Dependencies, 'guards'>): Guard<ProjectCall<Caller>> =>
  documented(
    {
      who: 'tokens of the project with the scope `api` or `self_rotate`',
      parameters: { id: 'The id of the project, or its full path, e.g. `ada%2Fengine`' },
    },
    async (call) => {
      const caller = requireScope(call.caller, 'self_rotate')
      const found = await guards.getProjectFor(call, 'read_project')
      if (caller.token.projectId !== found.project.id) throw forbidden('This is no token of the project')
      return { ...found, caller }
    },
  )
