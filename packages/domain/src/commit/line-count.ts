/** git treats a file as binary when it finds a NUL within this number of bytes. */
const binaryProbeBytes = 8000
const lineEnd = 10

/** The number of lines of a text file, including a last line without a line break; null for a binary file. */
export function lineCountOf(content: Uint8Array): number | null {
  if (content.subarray(0, binaryProbeBytes).includes(0)) return null
  let lines = 0
  for (let at = content.indexOf(lineEnd); at >= 0; at = content.indexOf(lineEnd, at + 1)) lines += 1
  return content.length > 0 && content.at(-1) !== lineEnd ? lines + 1 : lines
}
