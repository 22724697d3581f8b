/** A problem that the user can solve. It is printed as one line without a stack trace. */
export class SolvableProblem extends Error {
  override readonly name = 'SolvableProblem'
}
