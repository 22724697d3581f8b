/** The non-empty lines of ASCII output. */
export const linesOf = (output: Buffer): string[] => output.toString('latin1').split('\n').filter(Boolean)
