export {
  findActivityPayload,
  type PayloadKind,
  payloadKinds,
  type StoredPayload,
} from './activity-payload.js'
export { findSagaView, hasSaga } from './get-saga.js'
export { countedMax, countSagas, type SagaPage, searchSagas } from './list-sagas.js'
export { listParkedActivities, type ParkedActivity } from './parked-activities.js'
export type { Readable } from './read-query.js'
export { type ActivityView, type ErrorText, listActivityViews, type PayloadHead } from './saga-activities.js'
export { listSagaChildren, type SagaChild, type SagaChildren } from './saga-children.js'
export { listSagaDeployments, type SagaDeployment } from './saga-deployments.js'
export { findResolutionNote, listSagaEvents, type SagaEventView } from './saga-events.js'
export { createSagaNotes, listSagaNotes, type NewSagaNote, type SagaNote } from './saga-notes.js'
export type { SagaView } from './saga-row.js'
export {
  type SagaOrder,
  type SagaPosition,
  type SagaSearch,
  sagaOrders,
  searchedIdsMax,
} from './saga-search.js'
export type { SagaQuestion } from './saga-source.js'
export {
  countSagasByKind,
  type FailureGroup,
  groupFailures,
  measureSagaDurations,
  type SagaDurations,
  type SagaKindCount,
  type StatsRange,
} from './saga-stats.js'
export { walkSagas } from './walk-sagas.js'
