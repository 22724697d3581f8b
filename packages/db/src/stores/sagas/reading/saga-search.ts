import type { SagaFlagKind, SagaStatus } from '@switchyard/domain/saga'

/** Which sagas of a tenant; what is not given does not narrow. Ranges of time include both of their ends. */
export interface SagaSearch {
  tenant: string
  /** Exactly this name. */
  serviceName?: string | undefined
  status?: SagaStatus | undefined
  outcome?: string | undefined
  /** An activity event was received after the end. */
  late?: boolean | undefined
  /** `true`: has the flag; `false`: has it not. */
  flags?: Partial<Record<SagaFlagKind, boolean | undefined>>
  /** `key=value`, exactly. */
  tag?: string | undefined
  idPrefix?: string | undefined
  /** Part of the errors of an activity, in any case; at least three characters, or the index is of no use. */
  errorsContain?: string | undefined
  createdAfter?: Date | undefined
  createdBefore?: Date | undefined
  updatedAfter?: Date | undefined
  updatedBefore?: Date | undefined
  endedAfter?: Date | undefined
  endedBefore?: Date | undefined
}

export const sagaOrders = ['created_at', 'updated_at', 'ended_at', 'id'] as const

export interface SagaOrder {
  /** `ended_at` leaves out what has not ended. */
  by: (typeof sagaOrders)[number]
  direction: 'asc' | 'desc'
}

/** The last row of the page before: what the order is by, and the id, which decides between equals. */
export interface SagaPosition {
  /** Null when the order is by id. */
  at: Date | null
  id: string
}
