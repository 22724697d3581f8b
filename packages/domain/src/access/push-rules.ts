import { branchesFolder, shortRefName, tagsFolder } from '../commit/reference-name.js'
import { isNewRefName } from '../commit/revision.js'
import { excerpt } from '../texts.js'
import {
  type BranchProtection,
  compileProtections,
  coveredAllowsDelete,
  coveredAllowsForce,
  coveredAllowsPush,
} from './branch-protection.js'
import { accessLevels } from './project-roles.js'
import { coveredAllowsTag, coveredAllowsTagDelete, type TagProtection } from './tag-protection.js'

/** A reference that a push moves, creates (`before` is zeros) or deletes (`after` is zeros). */
export interface RefChange {
  /** Full name, such as `refs/heads/main`. */
  ref: string
  /** Ids of objects, 40 hexadecimal digits. */
  before: string
  after: string
}

/** The facts by which the references of a push are judged. */
export interface PushRights {
  /** Access level of the pusher in the project, 0 to 50. */
  level: number
  defaultBranch: string
  branchProtections: readonly BranchProtection[]
  tagProtections: readonly TagProtection[]
}

/**
 * The decision about a reference. `refused` has the reason for the user. `fast-forward` allows the change
 * when the new commit contains the old one, and has the reason for the other case.
 */
export type PushVerdict =
  | { outcome: 'allowed' }
  | { outcome: 'refused'; reason: string }
  | { outcome: 'fast-forward'; reason: string }

/** A function that decides about one reference of a push by its name and the kind of its change. */
export type PushJudge = (change: RefChange) => PushVerdict

const allowed: PushVerdict = { outcome: 'allowed' }
const refused = (reason: string): PushVerdict => ({ outcome: 'refused', reason })

/** The id that stands for no object: the old id of a new reference, and the new id of a deleted one. */
export const zeroId = '0'.repeat(40)

/** Returns whether an id is the null id, which means that there is no object. */
export const isZeroId = (id: string): boolean => /^0+$/.test(id)

/**
 * Compiles the rules for pushes. Developers may push branches and tags, as far as protections allow.
 * Maintainers may also push notes. All other references belong to the server: maintainers may delete them,
 * and nobody may create or move them.
 */
export function compilePushRules({
  level,
  defaultBranch,
  branchProtections,
  tagProtections,
}: PushRights): PushJudge {
  const coveringBranch = compileProtections(branchProtections)
  const coveringTag = compileProtections(tagProtections)
  const isMaintainer = level >= accessLevels.maintainer

  function judgeBranch(branch: string, { before, after }: RefChange): PushVerdict {
    const protectedBy = coveringBranch(branch)
    if (isZeroId(after)) {
      if (branch === defaultBranch) return refused('The default branch of a project cannot be deleted.')
      if (coveredAllowsDelete(level, protectedBy)) return allowed
      return refused(`You are not allowed to delete this protected branch: ${excerpt(branch)}`)
    }
    if (!isNewRefName(branch)) return refused(`Branch name is invalid: ${excerpt(branch)}`)
    if (!coveredAllowsPush(level, protectedBy)) {
      return refused(`You are not allowed to push into this branch: ${excerpt(branch)}`)
    }
    if (isZeroId(before) || coveredAllowsForce(protectedBy)) return allowed
    const reason = `You are not allowed to force push into this protected branch: ${excerpt(branch)}`
    return { outcome: 'fast-forward', reason }
  }

  function judgeTag(tag: string, { before, after }: RefChange): PushVerdict {
    const protectedBy = coveringTag(tag)
    if (isZeroId(after)) {
      if (coveredAllowsTagDelete(level, protectedBy)) return allowed
      return refused(`You are not allowed to delete this protected tag: ${excerpt(tag)}`)
    }
    if (!isNewRefName(tag)) return refused(`Tag name is invalid: ${excerpt(tag)}`)
    if (!isZeroId(before) && protectedBy.length > 0)
      return refused(`Protected tags cannot be updated: ${excerpt(tag)}`)
    if (coveredAllowsTag(level, protectedBy)) return allowed
    return refused(`You are not allowed to create this tag as it is protected: ${excerpt(tag)}`)
  }

  function judgeNotes(name: string, { ref, after }: RefChange): PushVerdict {
    if (!isMaintainer) return refused(`Only maintainers may push notes: ${excerpt(ref)}`)
    if (isZeroId(after) || isNewRefName(name)) return allowed
    return refused(`Name of notes is invalid: ${excerpt(name)}`)
  }

  function judgeReserved({ ref, after }: RefChange): PushVerdict {
    if (!isZeroId(after)) {
      return refused(`Only refs/heads/, refs/tags/ and refs/notes/ can be pushed to, not ${excerpt(ref)}`)
    }
    return isMaintainer ? allowed : refused(`Only maintainers may delete this reference: ${excerpt(ref)}`)
  }

  return (change) => {
    const { ref } = change
    if (level < accessLevels.developer) return refused('You are not allowed to push into this project')
    if (ref.startsWith(branchesFolder)) return judgeBranch(shortRefName(ref), change)
    if (ref.startsWith(tagsFolder)) return judgeTag(shortRefName(ref), change)
    if (ref.startsWith('refs/notes/')) return judgeNotes(ref.slice('refs/notes/'.length), change)
    return judgeReserved(change)
  }
}
