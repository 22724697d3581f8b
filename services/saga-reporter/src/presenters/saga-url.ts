import { defaultTenant } from '@switchyard/domain/saga'
import type { Call } from '@switchyard/service-kit/http'

/** Makes links to what belongs to a saga, e.g. to `activities/1/payloads/result`; parts are encoded one by one. */
export type SagaUrl = (...parts: string[]) => string

export const sagaUrl =
  ({ baseUrl }: Pick<Call, 'baseUrl'>, { tenant, sagaId }: { tenant: string; sagaId: string }): SagaUrl =>
  (...parts) => {
    const path = [sagaId, ...parts].map(encodeURIComponent).join('/')
    const query = tenant === defaultTenant ? '' : `?${new URLSearchParams({ tenant })}`
    return `${baseUrl}/api/v4/sagas/${path}${query}`
  }
