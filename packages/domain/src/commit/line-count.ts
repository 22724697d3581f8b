/** git looks this far for a NUL to tell binary files from text. */
const binaryProbeBytes = 8000
const lineEnd = 10

/** Lines of a text file, a last one without line end included; null for a binary file. */
export function lineCountOf(content: Uint8Array): number | null {
  if (content.subarray(0, binaryProbeBytes).includes(0)) return null
  let lines = 0
  for (let at = content.indexOf(lineEnd); at >= 0; at = content.indexOf(lineEnd, at + 1)) lines += 1
  return content.length > 0 && content.at(-1) !== lineEnd ? lines + 1 : lines
}
