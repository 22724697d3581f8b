/**
 * Returns the problem of a command line as one sentence. After that sentence, `parseArgs` of Node explains
 * how to name a file that looks like an option.
 *
 * @param error the error of `parseArgs`
 */
export const commandLineProblem = (error: unknown): string =>
  String((error as Error).message).split(/\.?\n|\. /)[0] ?? ''
