export { findUsualBranch, hasNoBranch, isBranchOfGitAnnex } from './default-branch.js'
export { findBranchTip, findRefs, findTagTarget } from './find-refs.js'
export { listReferences, type Reference } from './list-refs.js'
export { keepCommit, moveReference, pointHeadTo } from './move-refs.js'
export {
  findBranchContaining,
  findMerged,
  listReferencesContaining,
  listUnreferencedCommits,
} from './reachable.js'
export { readAnnotations, readTagMessage, writeTag } from './tags.js'
