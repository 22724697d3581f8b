export { aggregateStatus, type CountedStatus } from './aggregate.js'
export {
  activeStates,
  applyPost,
  isActive,
  type PostedState,
  postedStates,
  type StatusFields,
} from './commit-status.js'
export { validateStatusTexts } from './validate.js'
