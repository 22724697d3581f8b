export type ReferenceKind = 'branch' | 'tag'

export const branchesFolder = 'refs/heads/'
export const tagsFolder = 'refs/tags/'
export const folderOf: Record<ReferenceKind, string> = { branch: branchesFolder, tag: tagsFolder }

/** Returns the full name of a branch: `refs/heads/main`. */
export const branchRef = (branch: string): string => branchesFolder + branch

/** Returns the full name of a tag: `refs/tags/v1`. */
export const tagRef = (tag: string): string => tagsFolder + tag

/** Returns the full name of the default branch of a project. */
export const defaultBranchRef = (project: { defaultBranch: string }): string =>
  branchRef(project.defaultBranch)

/** Returns the name of a branch or tag without its folder, and the full name of any other reference. */
export const shortRefName = (ref: string): string => ref.replace(/^refs\/(?:heads|tags)\//, '')
