import { z } from 'zod'

/** Files travel inside the body of a commit. */
export const commitBytesMax = 300 * 1024 * 1024

/** File contents may hold any character, NUL included. Those of large bodies are decoded already. */
export const content = z.preprocess(
  (value) => (typeof value === 'number' || typeof value === 'boolean' ? String(value) : value),
  z
    .custom<string | Uint8Array>(
      (value) => typeof value === 'string' || value instanceof Uint8Array,
      'is invalid',
    )
    .meta({ type: 'string', maxLength: commitBytesMax }),
)
