// Runs a provider of OpenID Connect in a separate thread with a clock that is ahead or behind.
import { parentPort, workerData } from 'node:worker_threads'

const { aheadMs, options } = workerData
const RightDate = Date
globalThis.Date = class extends RightDate {
  constructor(...given) {
    if (given.length === 0) super(RightDate.now() + aheadMs)
    else super(...given)
  }
  static now() {
    return RightDate.now() + aheadMs
  }
}

const { startIdentityProvider } = await import('../../../../packages/testing/src/identity-provider.ts')
parentPort.postMessage((await startIdentityProvider(options)).issuer)
