import type { LeasedSaga } from '@switchyard/contracts/saga-recovery'
import type { ActivityView, SagaLeaseGrant, SagaView } from '@switchyard/db'
import { toActivityMessage, toSagaMessage } from './saga-messages.js'

/** A leased saga as a message of `switchyard.sagas.v1`. */
export const toLeasedSaga = ({
  grant: { token, leasedUntil, attempt },
  found,
}: {
  grant: SagaLeaseGrant
  found: { saga: SagaView; activities: ActivityView[] } | null
}): LeasedSaga => ({
  saga: found ? toSagaMessage(found.saga) : undefined,
  activities: found?.activities.map(toActivityMessage) ?? [],
  leaseToken: token,
  leasedUntil,
  attempt,
})
