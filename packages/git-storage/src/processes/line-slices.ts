import { setImmediate as yieldToEventLoop } from 'node:timers/promises'

/** Most bytes of an output that are parsed at once, which takes some milliseconds. */
export const sliceBytesMax = 1024 * 1024

const newline = 0x0a

/**
 * Yields an output in slices of whole lines, and lets other requests have a turn in between. Only a longer
 * line makes a slice longer than `sliceBytesMax`.
 */
export async function* lineSlices(output: Buffer): AsyncGenerator<Buffer> {
  for (let start = 0; start < output.length; ) {
    if (start > 0) await yieldToEventLoop()
    const fitting = output.subarray(start, start + sliceBytesMax).lastIndexOf(newline)
    const last = fitting < 0 ? output.indexOf(newline, start) : start + fitting
    const end = last < 0 ? output.length : last + 1
    yield output.subarray(start, end)
    start = end
  }
}
