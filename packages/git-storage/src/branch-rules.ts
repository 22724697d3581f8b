import { type BranchProtection, canPush } from '@switchyard/domain/access'

/** What no branch name holds, so a pattern with it covers none: blanks, and `~ ^ : ? [ \`. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: git refuses exactly these.
const inNoBranch = /[\x00-\x20\x7f~^:?[\\]/

/**
 * The protections of a project as the update hook reads them, for somebody at this level: one line each,
 * may push, may force, pattern. What is special in shell patterns besides the star is in no branch name.
 */
export function branchRules(level: number, protections: readonly BranchProtection[]): string {
  return protections
    .filter(({ name }) => name !== '' && !inNoBranch.test(name))
    .map((protection) => {
      const mayPush = canPush(protection.name, level, [{ ...protection, name: '*' }])
      return `${mayPush ? 1 : 0} ${protection.allowForcePush ? 1 : 0} ${protection.name}`
    })
    .join('\n')
}
