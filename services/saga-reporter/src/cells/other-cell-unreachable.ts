import { type ServiceError, status } from '@grpc/grpc-js'
import { type DomainError, unavailable } from '@switchyard/domain'

/** The failure of a call without an answer of the other cell: no connection, or a broken one; null when the cell has answered. */
export const otherCellUnreachable = (error: ServiceError, cell: string): DomainError | null =>
  error.code === status.UNAVAILABLE && error.metadata.get('grpc-status-details-bin').length === 0
    ? unavailable(`the cell ${cell} does not answer`, { cause: error, retryAfterMs: 1_000 })
    : null
