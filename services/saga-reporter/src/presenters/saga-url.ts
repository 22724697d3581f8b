import { defaultTenant } from '@switchyard/domain/saga'
import type { Call } from '@switchyard/service-kit/http'

/** Makes links to the parts of a saga, e.g. `activities/1/payloads/result`; each segment is encoded. */
export type SagaUrl = (...parts: string[]) => string

export const sagaUrl =
  ({ baseUrl }: Pick<Call, 'baseUrl'>, { tenant, sagaId }: { tenant: string; sagaId: string }): SagaUrl =>
  (...parts) => {
    const path = [sagaId, ...parts].map(encodeURIComponent).join('/')
    const query = tenant === defaultTenant ? '' : `?${new URLSearchParams({ tenant })}`
    return `${baseUrl}/api/v4/sagas/${path}${query}`
  }
