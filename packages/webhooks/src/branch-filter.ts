import { compileWildcard, tooLongText } from '@switchyard/domain'

/** How the filter of a webhook is read: as a pattern with `*`, as a regular expression, or not at all. */
export const branchFilterStrategies = ['wildcard', 'regex', 'all_branches'] as const

export interface BranchFilter {
  /** Null: every branch. */
  branchFilter: string | null
  /** One of {@link branchFilterStrategies}. */
  branchFilterStrategy: string
}

const filterLengthMax = 255

/** Returns the problem of a filter; null when it can be used. */
export async function branchFilterProblem({
  branchFilter,
  branchFilterStrategy,
}: BranchFilter): Promise<string | null> {
  if (branchFilter === null) return null
  if (branchFilter.length > filterLengthMax) return tooLongText(filterLengthMax)
  if (branchFilterStrategy !== 'regex') return null
  return (await compileExpression(branchFilter)) ? null : 'is not a regular expression of RE2'
}

/** Returns whether a webhook receives pushes to a branch. */
export async function matchesBranch(
  { branchFilter, branchFilterStrategy }: BranchFilter,
  branch: string,
): Promise<boolean> {
  if (branchFilter === null || branchFilterStrategy === 'all_branches') return true
  if (branchFilterStrategy !== 'regex') return compileWildcard(branchFilter)(branch)
  return (await compileExpression(branchFilter))?.test(branch) ?? false
}

/**
 * Compiles a regular expression with an engine that takes time in proportion to the text. The engine is
 * loaded with the first expression, because few webhooks have one.
 */
async function compileExpression(expression: string) {
  const { RE2JS, RE2JSException } = await import('re2js')
  try {
    return RE2JS.compile(expression)
  } catch (error) {
    if (error instanceof RE2JSException) return null
    throw error
  }
}
