/** Something the person at the keyboard can put right: shown as one line, without a stack. */
export class SetupProblem extends Error {
  override readonly name = 'SetupProblem'
}
