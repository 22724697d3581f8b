export type ReferenceKind = 'branch' | 'tag'

export const branchesFolder = 'refs/heads/'
export const tagsFolder = 'refs/tags/'
export const folderOf: Record<ReferenceKind, string> = { branch: branchesFolder, tag: tagsFolder }

/** The name of a branch in full: `refs/heads/main`. */
export const branchRef = (branch: string): string => branchesFolder + branch

/** The name of a tag in full: `refs/tags/v1`. */
export const tagRef = (tag: string): string => tagsFolder + tag

/** The name in full of the branch of a project that counts when none is named. */
export const defaultBranchRef = (project: { defaultBranch: string }): string =>
  branchRef(project.defaultBranch)

/** The name of a branch or a tag without its folder; others stay whole. */
export const shortRefName = (ref: string): string => ref.replace(/^refs\/(?:heads|tags)\//, '')
