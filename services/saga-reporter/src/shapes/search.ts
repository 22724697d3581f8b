import type { SagaFlagKind, SagaStatus } from '@switchyard/domain/saga'

/**
 * The number of the newest sagas whose ids are searched. An index of parts of ids would have to be written at
 * each event of a saga, which costs more than these searches do.
 */
export const searchedIdsMax = 100_000

/** Sagas of each status are counted up to this number. */
export const countedMax = 10_000

/**
 * The filters of a search within a tenant; a missing filter matches every saga. Ranges of time include both
 * ends.
 */
export interface SagaSearch {
  tenant: string
  /** Exactly this name. */
  serviceName?: string | undefined
  status?: SagaStatus | undefined
  outcome?: string | undefined
  /** An activity event was received after the end. */
  late?: boolean | undefined
  /** `true`: sagas with the flag; `false`: sagas without it. */
  flags?: Partial<Record<SagaFlagKind, boolean | undefined>>
  /** `key=value`, exactly. */
  tag?: string | undefined
  idPrefix?: string | undefined
  /** Part of the id, in any case; alone, of the newest {@link searchedIdsMax} sagas. */
  idContains?: string | undefined
  /** Sagas that this saga began. */
  parentSagaId?: string | undefined
  /** Of the errors of an activity, exactly: a group of failures has it. */
  fingerprint?: string | undefined
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
  /** `ended_at` leaves out sagas that have not ended. */
  by: (typeof sagaOrders)[number]
  direction: 'asc' | 'desc'
}

export const newestFirst = { by: 'created_at', direction: 'desc' } as const satisfies SagaOrder

/** The last row of the page before: what the order is by, and the id, which decides between equals. */
export interface SagaPosition {
  /** Null when the order is by id. */
  at: Date | null
  id: string
}
