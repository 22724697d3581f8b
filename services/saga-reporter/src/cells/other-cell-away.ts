import { type ServiceError, status } from '@grpc/grpc-js'
import { type DomainError, unavailable } from '@switchyard/domain'

/** A failure that the other cell has not sent itself: no connection, or one that broke; null for its own answer. */
export const otherCellAway = (error: ServiceError, cell: string): DomainError | null =>
  error.code === status.UNAVAILABLE && error.metadata.get('grpc-status-details-bin').length === 0
    ? unavailable(`the cell ${cell} does not answer`, { cause: error, retryAfterMs: 1_000 })
    : null
