import { forbidden } from '@switchyard/domain'
import { type Caller, requireScope } from '@switchyard/domain/access'
import { documented, type Guard } from '@switchyard/service-kit/http'
import type { Dependencies } from '../../dependencies.js'
import { getProjectFor, type ProjectCall } from '../../guards.js'

/** A token of the project that `:id` names, whatever its role is, if it was made to replace itself. */
export const projectTokenItself = ({
  database,
}: Pick<Dependencies, 'database'>): Guard<ProjectCall<Caller>> =>
  documented(
    {
      who: 'tokens of the project with the scope `api` or `self_rotate`',
      parameters: { id: 'The id of the project, or its full path, e.g. `ada%2Fengine`' },
    },
    async ({ params, caller: sender }) => {
      const caller = requireScope(sender, 'self_rotate')
      const found = await getProjectFor(database, params.id ?? '', 'read_project', caller)
      if (caller.token.projectId !== found.project.id) throw forbidden('This is no token of the project')
      return { ...found, caller }
    },
  )
