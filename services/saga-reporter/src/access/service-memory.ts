import { keyInTenant, type RawSagaEvent } from '@switchyard/domain/saga'
import { LRUCache } from 'lru-cache'
import { serviceNameOf } from './peer.js'

/** The service an event belongs to, as far as this process has seen; null when it is unknown. */
export type ServiceMemory = (tenant: string, event: RawSagaEvent) => string | null

/**
 * Remembers which service sagas and activities belong to: the `max` sagas and `max` activities that were seen last.
 */
export function createServiceMemory(max: number): ServiceMemory {
  const sagas = new LRUCache<string, string>({ max: max })
  const activities = new LRUCache<string, string>({ max: max })
  const ofSaga = (tenant: string, sagaId: string, named: string | null): string | null => {
    if (sagaId === '') return named
    const key = keyInTenant(tenant, sagaId)
    if (named === null) return sagas.get(key) ?? null
    sagas.set(key, named)
    return named
  }
  return (tenant, event) => {
    if (!('activityId' in event)) return ofSaga(tenant, event.sagaId.trim(), serviceNameOf(event))
    const key = keyInTenant(tenant, event.activityId.trim())
    const known = activities.get(key)
    if (known !== undefined || !('sagaId' in event)) return known ?? null
    const service = ofSaga(tenant, event.sagaId.trim(), null)
    if (service !== null) activities.set(key, service)
    return service
  }
}
