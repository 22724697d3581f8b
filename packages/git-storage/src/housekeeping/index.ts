export {
  type FoundRepository,
  hasNoObjects,
  isUntouchedSince,
  listRepositories,
} from './list-repositories.js'
export { tidyRepository } from './tidy-repository.js'
