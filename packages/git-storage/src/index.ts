export type { ArchiveFormat } from './archive.js'
export type { BlamedLines } from './blame.js'
export type { ByteRange, StoredBlob } from './blobs.js'
export { type CountedRepository, createGit, type Git, type GitOptions, type Repository } from './git.js'
export { argumentsOf, isTooHard, runGitOk, spawnGit } from './git-process.js'
export type { GitService, GitSession } from './git-session.js'
export {
  type FoundRepository,
  hasNoObjects,
  isUntouchedSince,
  listRepositories,
} from './housekeeping/list-repositories.js'
export { tidyRepository } from './housekeeping/tidy-repository.js'
export type { Contributor } from './list-contributors.js'
export { type ArrivingRepository, receiveRepository } from './moving/arriving-repository.js'
export type { Foresee } from './open-repository.js'
export type { DiffEntry } from './parse-diff.js'
export { servePush } from './pushing/serve-push.js'
export type { CommitQuery } from './read-commits.js'
export type { StatsOfCommits } from './read-stats.js'
export { fullName, type Reference, type ReferenceKind } from './references.js'
export { isBranchOfGitAnnex } from './refs.js'
export { countBytes, diskPathOf } from './repository-files.js'
export { advertiseRefs, serveFetch } from './smart-http.js'
export type { FolderEntry } from './trees.js'
