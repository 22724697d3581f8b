export { findFreePort } from '@switchyard/dev-env/free-port'
export { launchBrowser } from './browser.js'
export { type DocumentedAnswer, type DocumentedCall, openDocumentedApi } from './documented-api.js'
export {
  addMember,
  createProject,
  createToken,
  createUser,
  type GivenProject,
  type GivenToken,
} from './factories.js'
export {
  createGitRepository,
  type Identity,
  isolatedGitEnv,
  type TestCommit,
  type TestGitRepository,
} from './git-repository.js'
export { createTestDatabase, type TestDatabase } from './test-database.js'
export { startTestRedis, type TestRedis } from './test-redis.js'
export { makeTreeBomb } from './tree-bomb.js'
export { type WaitForOptions, waitFor } from './wait-for.js'
