import type { Caller } from '@switchyard/domain/access'
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
