/** The lines that git printed, of ASCII alone, without empty ones. */
export const linesOf = (output: Buffer): string[] => output.toString('latin1').split('\n').filter(Boolean)
