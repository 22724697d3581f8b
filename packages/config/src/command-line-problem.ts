/**
 * What is wrong with a command line, in one sentence: behind it, `parseArgs` of Node explains how to name a
 * file that looks like an option.
 *
 * @param error what `parseArgs` threw
 */
export const commandLineProblem = (error: unknown): string =>
  String((error as Error).message).split(/\.?\n|\. /)[0] ?? ''
