/** A problem that the user can solve. It is printed as one line without a stack trace. */
export class SetupProblem extends Error {
  override readonly name = 'SetupProblem'
}
