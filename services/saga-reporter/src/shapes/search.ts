import type { SagaFlagKind, SagaStatus } from '@switchyard/domain/saga'

/**
 * Number of the newest sagas whose ids are searched. An index of parts of ids would need a write with each
 * event of a saga, which costs more than these searches.
 */
export const searchedIdsMax = 100_000

/** Limit up to which sagas of each status are counted. */
export const countedMax = 10_000

/**
 * The filters of a search within a tenant; a missing filter matches every saga. Ranges of time include both
 * ends.
 */
export interface SagaSearch {
  tenant: string
  /** The exact name. */
  serviceName?: string | undefined
  status?: SagaStatus | undefined
  outcome?: string | undefined
  /** Whether an activity event was received after the end. */
  late?: boolean | undefined
  /** `true`: only sagas with the flag; `false`: only sagas without it. */
  flags?: Partial<Record<SagaFlagKind, boolean | undefined>>
  /** The exact tag, `key=value`. */
  tag?: string | undefined
  idPrefix?: string | undefined
  /**
   * Part of the id; case does not matter. Without other filters, only the newest {@link searchedIdsMax} sagas
   * are searched.
   */
  idContains?: string | undefined
  /** Only sagas that this saga started. */
  parentSagaId?: string | undefined
  /** The exact fingerprint of an activity's errors, which a group of failures has. */
  fingerprint?: string | undefined
  /**
   * Part of an activity's error text; case does not matter. Shorter texts than three characters cannot use
   * the index.
   */
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
  /** `ended_at` excludes sagas that have not ended. */
  by: (typeof sagaOrders)[number]
  direction: 'asc' | 'desc'
}

export const newestFirst = { by: 'created_at', direction: 'desc' } as const satisfies SagaOrder

/** The last row of the previous page: the value of the order, and the id, which breaks ties. */
export interface SagaPosition {
  /** Null when the order is by id. */
  at: Date | null
  id: string
}
