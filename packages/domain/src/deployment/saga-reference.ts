import type { FieldProblems } from '../errors.js'
import { optionalId } from '../saga/field-rules.js'
import { defaultTenant } from '../saga/saga.js'

/** The saga that executes a deployment. */
export interface SagaReference {
  tenant: string
  sagaId: string
}

/**
 * Reads the saga that a caller names, by the rules for ids of sagas. The saga need not exist yet, because its
 * first event may come later.
 *
 * @param given `sagaTenant` unset: the tenant of callers that name none
 * @returns the reference, null when no saga is named; or the problems by parameter
 */
export function readSagaReference(given: { sagaId?: string | undefined; sagaTenant?: string | undefined }): {
  saga: SagaReference | null
  problems: FieldProblems
} {
  const problems: FieldProblems = {}
  const read = (field: string, text = '') => {
    try {
      return optionalId(field, text)
    } catch {
      problems[field] = ['is invalid']
      return null
    }
  }
  const sagaId = read('saga_id', given.sagaId)
  const tenant = read('saga_tenant', given.sagaTenant) ?? defaultTenant
  return { saga: sagaId === null ? null : { tenant, sagaId }, problems }
}
