import { boundTenantsOf, type Caller, ownTenant, requireTenant } from '@switchyard/domain/access'
import type { Credentials } from '../access/authorize.js'
import type { AuthorizeReader } from '../access/authorize-reader.js'
import { credentialsOf } from './credentials.js'
import { type Admission, createAdmission } from './server/admission.js'

/** A reader whose token was valid when the call began. */
export interface AdmittedReader {
  caller: Caller
  credentials: Credentials
}

/** Admits calls whose headers have the token of a reader of sagas. */
export const createReaderAdmission = (authorize: AuthorizeReader): Admission<AdmittedReader> =>
  createAdmission(async (call) => {
    const credentials = credentialsOf(call)
    return { caller: await authorize(credentials), credentials }
  })

/**
 * A request with its tenant: the one that it names, else the one of its reader.
 *
 * @throws DomainError forbidden when the reader's token is bound to other tenants
 */
export function withTenant<Request extends { tenant: string }>(request: Request, caller: Caller): Request {
  const bound = boundTenantsOf(caller)
  const tenant = request.tenant || ownTenant(bound)
  requireTenant(bound, tenant)
  return { ...request, tenant }
}
