import type { Parameters } from 'fast-check'

/**
 * How long each property is tried and from which seed: `FUZZ_SECONDS` and `FUZZ_SEED`. The seed of `npm test`
 * is always the same, so that a run that fails can be repeated.
 */
export function fuzzBounds(): Pick<
  Parameters<unknown>,
  'seed' | 'numRuns' | 'interruptAfterTimeLimit' | 'markInterruptAsFailure'
> {
  const { FUZZ_SECONDS, FUZZ_SEED } = process.env
  return {
    seed: Number(FUZZ_SEED ?? 20_260_101),
    numRuns: Number.MAX_SAFE_INTEGER,
    interruptAfterTimeLimit: Number(FUZZ_SECONDS ?? 4) * 1000,
    markInterruptAsFailure: false,
  }
}

/** Time after which a request counts as hanging, far longer than any answer takes. */
export const hangMs = 20_000

/** For vitest: the property, a request that hangs at its end, and the making of a smaller example. */
export const fuzzTimeoutMs = (fuzzBounds().interruptAfterTimeLimit ?? 0) + 120_000
