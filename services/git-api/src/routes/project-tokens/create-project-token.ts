import { accessLevels, type Caller, projectTokenScopes } from '@switchyard/domain/access'
import { auditAuthor, created, endpoint, filledText } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../../dependencies.js'
import type { ProjectCall } from '../../guards.js'
import { issuedProjectTokenShape, presentIssuedProjectToken } from '../../presenters/project-token.js'
import { issueProjectToken } from '../../use-cases/project-tokens.js'
import { accessLevel, optionalDay, scopeList, tokenDescription } from '../../wire/parameters.js'

const input = z.object({
  name: filledText(),
  description: tokenDescription(),
  scopes: scopeList(projectTokenScopes),
  access_level: accessLevel(...Object.values(accessLevels)).default(accessLevels.maintainer),
  expires_at: optionalDay(),
})

/** `POST /projects/:id/access_tokens`: the answer is the only place that shows the secret. */
export const createProjectToken = (deps: Dependencies) =>
  endpoint({
    summary: 'Make a token for one project; its secret is shown only here',
    replies: { 201: issuedProjectTokenShape },
    input,
    async handle({ access_level, expires_at, ...given }, access: ProjectCall<Caller>, call) {
      const token = { ...given, accessLevel: access_level, expiresAt: expires_at }
      const issued = await issueProjectToken(deps, access, token, auditAuthor(access.caller, call))
      return created(presentIssuedProjectToken(issued, access_level))
    },
  })
