export {
  type ActionName,
  actionNames,
  type CommitAction,
  isBase64,
  readActions,
  refuseAction,
  type TreeEdit,
} from './actions.js'
export { type BranchMove, type BranchStart, branchStart } from './branch-start.js'
export { type Commit, type CommitStats, type Signature, signatureTime, titleOf } from './commit.js'
export {
  formatCommitObject,
  formatTagObject,
  type NewCommit,
  type NewTagObject,
  parseCommitObject,
  signatureText,
} from './commit-object.js'
export { parseFilePath } from './file-path.js'
export { isGeneratedFile } from './generated-file.js'
export { lineCountOf } from './line-count.js'
export { compileNameSearch } from './name-search.js'
export { type EditContext, foldersOf, planTreeEdits } from './plan-tree-edits.js'
export { bytesOfName, nameOf, storedPath } from './quoted-name.js'
export { isFullHash, isNewBranchName, isRefName, parseRevision, refNameLengthMax } from './revision.js'
export { trailersOf } from './trailers.js'
export {
  crossesFile,
  emptyFolder,
  entryAt,
  fileModes,
  putFile,
  removeFile,
  type TreeEntry,
  type TreeFile,
  type TreeFolder,
} from './tree.js'
export {
  folderMode,
  formatTreeObject,
  parseTreeObject,
  type StoredEntry,
  treeEntry,
} from './tree-object.js'
