import type { Parameters } from 'fast-check'

/**
 * Returns duration and seed of each property: `FUZZ_SECONDS` and `FUZZ_SEED`. `npm test` always uses the same
 * seed, so that a failing run can be repeated.
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
export const hangMs = 120_000

/** Time limit of a test: the property, a request that hangs at its end, and shrinking. */
export const fuzzTimeoutMs = (fuzzBounds().interruptAfterTimeLimit ?? 0) + 600_000
