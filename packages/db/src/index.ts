export { checkDatabase } from './check-database.js'
export {
  createDatabase,
  type Database,
  type DatabaseOptions,
  type DatabaseOrTransaction,
  inTransaction,
} from './client.js'
export {
  type BroadcastMessage,
  type CommitStatus,
  type PersonalAccessToken,
  Prisma,
  type Project,
  type ProjectMember,
  type ProtectedBranch,
  type Saga,
  type SagaActivity,
  type SagaEvent,
  type User,
} from './generated/client.js'
export { findCaller } from './stores/callers.js'
export { findProjectForUser, type ProjectForUser } from './stores/projects.js'
export {
  createUser,
  findUser,
  findUserByUsername,
  listUsers,
  type NewUser,
  type UserFilter,
} from './stores/users.js'
