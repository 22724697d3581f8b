import fc from 'fast-check'

/** Values that often cause trouble in parsers, databases, file systems and git. */
export const oddTexts = [
  '',
  ' ',
  '0',
  '-1',
  '1.5',
  '1e309',
  'NaN',
  '2147483648',
  '9223372036854775808',
  '0x10',
  '١',
  '\u0000',
  'a\u0000b',
  '\n',
  '\r\nX-Injected: 1',
  '\u202e',
  '\ufeff',
  '\ufffd',
  '🎉',
  'ß'.repeat(300),
  '.',
  '..',
  '../../../etc/passwd',
  '/',
  '//',
  '.git/config',
  'a/../b',
  'C:\\',
  '-',
  '--upload-pack=id',
  'HEAD',
  'main',
  'main^{tree}',
  '@{u}',
  'main..HEAD',
  ':/x',
  'refs/heads/main',
  '0'.repeat(40),
  '%',
  '_',
  '\\',
  "'",
  '"',
  '`',
  '$(id)',
  '{{x}}',
  '<script>',
  '*',
  '(',
  '[',
  '(a+)+$',
  '?',
  '#',
  '&',
  '=',
  'null',
  'true',
  '[]',
  '{}',
  '__proto__',
  'constructor',
  'toString',
  '2026-02-30',
  '2026-01-01T25:00:00Z',
  '+275760-09-13T00:00:00.001Z',
  '-000001-01-01T00:00:00Z',
  'now',
  'a'.repeat(256),
  'a'.repeat(5_000),
  'http://',
  'javascript:1',
  'http://[::1]:1/',
  'a@b',
]

export const oddText = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...oddTexts) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 40 }) },
  { weight: 1, arbitrary: fc.string({ maxLength: 40 }) },
)

/** Any JSON value with odd texts and numbers. */
export const oddJson: fc.Arbitrary<unknown> = fc.oneof(
  oddText,
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom<unknown>(null, true, false, 0, -1, 1.5, 1e308, 2 ** 53, [], {}, [[]], [null], { '': 1 }),
)

/**
 * Returns bytes that differ from the given ones in a few places: changed, cut off, duplicated, removed or
 * inserted.
 */
export const mutated = (bytes: Uint8Array): fc.Arbitrary<Uint8Array> =>
  fc.array(change, { minLength: 1, maxLength: 4 }).map((changes) => changes.reduce(apply, bytes))

const change = fc.record({
  kind: fc.constantFrom('flip', 'cut', 'double', 'remove', 'insert'),
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  length: fc.integer({ min: 1, max: 16 }),
  bytes: fc.uint8Array({ minLength: 1, maxLength: 16 }),
})

function apply(
  bytes: Uint8Array,
  { kind, at, length, bytes: given }: typeof change extends fc.Arbitrary<infer Value> ? Value : never,
) {
  const place = Math.floor(at * bytes.length)
  const before = bytes.subarray(0, place)
  const after = (from: number) => bytes.subarray(Math.min(from, bytes.length))
  switch (kind) {
    case 'flip':
      return Buffer.concat([before, given, after(place + given.length)])
    case 'cut':
      return before
    case 'double':
      return Buffer.concat([before, after(place).subarray(0, length), after(place)])
    case 'remove':
      return Buffer.concat([before, after(place + length)])
    default:
      return Buffer.concat([before, given, after(place)])
  }
}
